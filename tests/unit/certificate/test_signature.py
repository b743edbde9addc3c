"""Signatures: ssh-keygen agrees both ways, nothing that was changed is accepted, and hostile files are told apart."""

from __future__ import annotations

import base64
import builtins
import hashlib
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import PrivateFormat, load_ssh_private_key
from hypothesis import given as each
from hypothesis import strategies as st

import discreet as dc
from discreet._support.errors import InputError, SignatureError
from discreet.certificate.signature import BEGIN, END, MAGIC, VERSION, Signer, SigningKey, _armoured, check, sign
from discreet.certificate.ssh_wire import ED25519, packed, unpacked
from tests.conftest import missing
from tests.signing import new_key, public_of

MESSAGE = b'{"format": "discreet-certificate/1"}\n'

#: The order of the group of Ed25519.
ORDER = 2**252 + 27742317777372353535851937790883648493


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_key(tmp_path_factory.mktemp("keys") / "key")


@pytest.fixture(scope="module")
def ssh_keygen() -> str:
    found = shutil.which("ssh-keygen")
    return found if found is not None else missing("ssh-keygen is not installed")


def keygen(program: str, *options: Any, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program, *map(str, options)], input=given, capture_output=True, check=False)


def blob_of(text: str) -> bytes:
    return base64.b64decode("".join(text.splitlines()[1:-1]))


def made_of(key: Path, **changed: bytes) -> str:
    """A signature whose parts are as they should be but for those named, and whose key covers what it then says."""
    private = load_ssh_private_key(key.read_bytes(), None)
    parts = {
        "public": SigningKey.from_file(key).public,
        "namespace": b"discreet",
        "reserved": b"",
        "algorithm": b"sha512",
        "kind": ED25519,
        "start": MAGIC + VERSION,
        "end": b"",
    } | changed
    digest = hashlib.new(parts["algorithm"].decode() if parts["algorithm"] != b"none" else "md5", MESSAGE).digest()
    covered = MAGIC + packed(parts["namespace"], parts["reserved"], parts["algorithm"], digest)
    raw = parts.get("raw", private.sign(covered))  # type: ignore[union-attr, call-arg]
    names = ("public", "namespace", "reserved", "algorithm")
    signature = packed(*(parts[name] for name in names), packed(parts["kind"], raw))
    return _armoured(parts["start"] + signature + parts["end"])


def test_what_is_signed_here_is_what_ssh_keygen_signs(key: Path, ssh_keygen: str, tmp_path: Path) -> None:
    """Byte by byte, and it verifies what we sign under the name and namespace of a file of allowed signers."""
    (tmp_path / "message").write_bytes(MESSAGE)
    done = keygen(ssh_keygen, "-Y", "sign", "-n", "discreet", "-f", key, tmp_path / "message")
    assert done.returncode == 0, done.stderr
    ours = sign(MESSAGE, key)
    assert ours == (tmp_path / "message.sig").read_text()
    (tmp_path / "ours.sig").write_text(ours)
    line = public_of(key).read_text()
    (tmp_path / "allowed").write_text(f'someone@example.org namespaces="discreet" {line}')
    options = ["-f", tmp_path / "allowed", "-I", "someone@example.org", "-n", "discreet", "-s", tmp_path / "ours.sig"]
    assert keygen(ssh_keygen, "-Y", "verify", *options, given=MESSAGE).returncode == 0
    assert keygen(ssh_keygen, "-Y", "verify", *options, given=MESSAGE + b" ").returncode != 0


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
def test_what_ssh_keygen_signs_is_checked_here(algorithm: str, ssh_keygen: str, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    assert keygen(ssh_keygen, "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", theirs).returncode == 0
    options = ["-n", "discreet", "-O", f"hashalg={algorithm}", "-f", theirs]
    signed = keygen(ssh_keygen, "-Y", "sign", *options, given=MESSAGE).stdout.decode()
    found = check(MESSAGE, signed, public_of(theirs))
    assert found == keygen(ssh_keygen, "-l", "-f", theirs).stdout.decode().split()[1]
    with pytest.raises(SignatureError, match="something else"):
        check(MESSAGE + b" ", signed, public_of(theirs))
    if algorithm == "sha512":
        assert sign(MESSAGE, theirs) == signed


def test_keys_of_ssh_keygen_that_cannot_sign_here_are_told_apart(ssh_keygen: str, tmp_path: Path) -> None:
    for name, options in {
        "secret": ["-t", "ed25519", "-N", "a passphrase"],
        "old": ["-t", "rsa", "-m", "PEM", "-N", "a passphrase"],
        "rsa": ["-t", "rsa", "-N", ""],
        "pem": ["-t", "ecdsa", "-m", "PEM", "-N", ""],
    }.items():
        assert keygen(ssh_keygen, "-q", *options, "-f", tmp_path / name).returncode == 0
    for name in ("secret", "old"):
        with pytest.raises(InputError, match=r"is encrypted.*ssh-keygen -Y sign -n discreet"):
            sign(MESSAGE, tmp_path / name)
    for name in ("rsa", "pem"):
        with pytest.raises(InputError, match="another kind than Ed25519"):
            sign(MESSAGE, tmp_path / name)
    by_rsa = keygen(ssh_keygen, "-Y", "sign", "-n", "discreet", "-f", tmp_path / "rsa", given=MESSAGE).stdout.decode()
    with pytest.raises(SignatureError, match="another kind than Ed25519"):
        check(MESSAGE, by_rsa, public_of(new_key(tmp_path / "key")))
    with pytest.raises(InputError, match="no Ed25519 key"):
        Signer.of(public_of(tmp_path / "rsa"))


@pytest.mark.parametrize("encoding", [PrivateFormat.OpenSSH, PrivateFormat.PKCS8])
def test_keys_of_both_kinds_of_files_sign(encoding: PrivateFormat, tmp_path: Path) -> None:
    key = new_key(tmp_path / "key", encoding=encoding)
    assert check(MESSAGE, sign(MESSAGE, key), public_of(key)) == SigningKey.from_file(key).fingerprint


def test_a_key_shows_nothing_of_itself(key: Path) -> None:
    loaded = SigningKey.from_file(key)
    assert repr(loaded) == f"SigningKey({loaded.fingerprint})"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(loaded)
    secret = key.read_text()
    for take in (SigningKey.of, Signer.of):
        with pytest.raises(InputError) as error:
            take(secret)
        assert secret.splitlines()[2] not in str(error.value)


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (None, 0o644, "others may read the signing key.*chmod 600"),
        (None, 0o640, "others may read the signing key"),
        (b"", 0o600, "is not a private key"),
        (b"\xff" * 100, 0o600, "is not a private key"),
        (b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n", 0o600, "not a private key"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o600, "is not a private key"),
        (b"ssh-ed25519 AAAA", 0o644, "is a public key"),
    ],
)
def test_a_file_that_is_no_private_key_is_refused(
    content: bytes | None, mode: int, message: str, key: Path, tmp_path: Path
) -> None:
    path = tmp_path / "key"
    path.write_bytes(key.read_bytes() if content is None else content)
    path.chmod(mode)
    with pytest.raises(InputError, match=message):
        sign(MESSAGE, path)


@pytest.mark.parametrize("path", ["nowhere", ".", "a\0b", 7])
def test_a_key_that_cannot_be_read_is_told(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for take in (SigningKey.of, Signer.of):
        with pytest.raises(InputError):
            take(path)


def test_without_the_library_the_extra_is_named(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signature, original = sign(MESSAGE, key), builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for call in (lambda: sign(MESSAGE, key), lambda: check(MESSAGE, signature, public_of(key))):
        with pytest.raises(InputError, match=r"discreet\[sign\]") as error:
            call()
        assert not isinstance(error.value, SignatureError)  # a missing library says nothing about a signature


@each(data=st.data())
def test_a_changed_signature_is_never_accepted(data: st.DataObject, key: Path) -> None:
    """Letters replaced, put in, taken out and moved about, in the armour too."""
    text = sign(MESSAGE, key)
    changed = text
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed)))
        length = data.draw(st.integers(0, 3))
        put = data.draw(st.text(st.sampled_from("A/+=\n\r -Zz9é\0"), max_size=3))
        changed = changed[:at] + put + changed[at + length :]
    if changed != text:
        with pytest.raises(SignatureError):
            check(MESSAGE, changed, public_of(key))


@each(data=st.data())
def test_changed_bytes_of_a_signature_are_never_accepted(data: st.DataObject, key: Path) -> None:
    """Armoured as they should be, so that lengths and parts are what is looked at."""
    blob = blob_of(sign(MESSAGE, key))
    at = data.draw(st.integers(0, len(blob)))
    changed = blob[:at] + data.draw(st.binary(max_size=5)) + blob[at + data.draw(st.integers(0, 5)) :]
    if changed != blob:
        with pytest.raises(SignatureError):
            check(MESSAGE, _armoured(changed), public_of(key))


@each(bit=st.integers(0, 8 * 300))
def test_a_flipped_bit_is_never_accepted(bit: int, key: Path) -> None:
    blob = bytearray(blob_of(sign(MESSAGE, key)))
    blob[bit // 8 % len(blob)] ^= 1 << bit % 8
    with pytest.raises(SignatureError):
        check(MESSAGE, _armoured(bytes(blob)), public_of(key))


@each(message=st.binary(max_size=60))
def test_another_message_is_never_accepted(message: bytes, key: Path) -> None:
    signature = sign(MESSAGE, key)
    if message != MESSAGE:
        with pytest.raises(SignatureError, match="something else"):
            check(message, signature, public_of(key))


@each(message=st.binary(max_size=60), part=st.binary(min_size=1, max_size=3), at=st.integers(0, 60))
def test_a_changed_message_is_never_accepted(message: bytes, part: bytes, at: int, key: Path) -> None:
    signature = sign(message, key)
    assert check(message, signature, public_of(key))
    with pytest.raises(SignatureError):
        check(message[:at] + part + message[at:], signature, public_of(key))


def test_a_signature_is_not_turned_into_a_second_one(key: Path) -> None:
    """The group has a second number for the same point; it is refused, as is each longer spelling."""
    blob = blob_of(sign(MESSAGE, key))
    second = int.from_bytes(blob[-32:], "little") + ORDER
    with pytest.raises(SignatureError):
        check(MESSAGE, _armoured(blob[:-32] + second.to_bytes(32, "little")), public_of(key))
    text = sign(MESSAGE, key)
    body = text[len(BEGIN) : -len(END)]
    spare_bits = body[:-3] + chr(ord(body[-3]) + 1) + body[-2:]
    assert body.endswith("==")
    assert base64.b64decode(spare_bits.replace("\n", "")) == blob
    for other in (BEGIN + spare_bits + END, BEGIN + body.replace("\n", "") + END, text + "\n", text[:-1],
                  text.replace("\n", "\r\n"), " " + text, BEGIN + "\n" + body + END):  # fmt: skip
        with pytest.raises(SignatureError):
            check(MESSAGE, other, public_of(key))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"namespace": b"git"}, "another purpose"),
        ({"namespace": b"discreet\0"}, "another purpose"),
        ({"namespace": b""}, "another purpose"),
        ({"reserved": b"x"}, "damaged"),
        ({"algorithm": b"sha1"}, "damaged"),
        ({"algorithm": b"none"}, "damaged"),
        ({"kind": b"ssh-rsa"}, "another kind"),
        ({"kind": b"sk-ssh-ed25519@openssh.com"}, "another kind"),
        ({"public": packed(b"ssh-rsa", b"\1" * 32)}, "another kind"),
        ({"public": packed(ED25519, b"\1" * 31)}, "damaged"),
        ({"public": packed(ED25519)}, "another kind"),
        ({"raw": b"\0" * 63}, "damaged"),
        ({"raw": b"\0" * 64}, "something else"),
        ({"start": MAGIC + (2).to_bytes(4, "big")}, "another version"),
        ({"start": b"SSHSIX" + VERSION}, "another version"),
        ({"end": b"\0"}, "damaged"),
        ({"end": packed(b"")}, "damaged"),
    ],
)
def test_what_is_not_of_our_kind_is_refused(changed: dict[str, bytes], message: str, key: Path) -> None:
    """Even where the very key signed it so."""
    assert check(MESSAGE, made_of(key), public_of(key))
    with pytest.raises(SignatureError, match=message):
        check(MESSAGE, made_of(key, **changed), public_of(key))


def test_lengths_are_not_believed(key: Path) -> None:
    """A string of four billion bytes is not there, and no room is made for it."""
    for at in (10, 10 + 4 + 51):
        blob = bytearray(blob_of(sign(MESSAGE, key)))
        blob[at : at + 4] = b"\xff\xff\xff\xff"
        with pytest.raises(SignatureError, match="damaged"):
            check(MESSAGE, _armoured(bytes(blob)), public_of(key))
    assert unpacked(b"\xff\xff\xff\xff", 1) is None
    assert unpacked(b"\0\0", 1) is None
    assert unpacked(packed(b"a", b"b"), 1) is None
    assert unpacked(packed(b"a", b"b"), 2) == [b"a", b"b"]
    for text in ("", BEGIN, BEGIN + END, BEGIN + "A" * 10**6 + END, "x" * 10**6, BEGIN[:-1] + END[1:]):
        with pytest.raises(SignatureError):
            check(MESSAGE, text, public_of(key))


def test_another_signer_is_not_the_signer(key: Path, tmp_path: Path) -> None:
    other = new_key(tmp_path / "other")
    with pytest.raises(SignatureError, match="not the signer's") as error:
        check(MESSAGE, sign(MESSAGE, other), public_of(key))
    assert SigningKey.from_file(other).fingerprint in str(error.value)
    forged = made_of(other, public=SigningKey.from_file(key).public)  # names the signer's key, and is not by it
    with pytest.raises(SignatureError, match="something else"):
        check(MESSAGE, forged, public_of(key))


def test_signers_are_read_from_lines_files_and_lists(key: Path, tmp_path: Path) -> None:
    line, other = public_of(key).read_text().strip(), public_of(new_key(tmp_path / "other")).read_text()
    rsa = "ssh-rsa " + base64.b64encode(packed(b"ssh-rsa", b"\3", b"\7" * 64)).decode()
    wanted = Signer.of(public_of(key))
    assert Signer.of(line) == Signer.of(wanted) == Signer.of(line.rsplit(" ", 1)[0]) == wanted
    assert wanted.fingerprints == (SigningKey.from_file(key).fingerprint,)
    (tmp_path / "allowed").write_bytes(
        f"# who may sign\n\nme@example.org,*@example.net {line}\r\n".encode()
        + f'"me too" namespaces="git,disc*",valid-after="20200101" {other}'.encode()
        + f"\t you@example.org\t{rsa}\n".encode()
        + f'ca@example.org cert-authority {line} "caf\xe9"\n'.encode("latin-1")
    )
    assert len(Signer.of(tmp_path / "allowed").keys) == 2
    assert Signer.of(str(tmp_path / "allowed")) == Signer.of(tmp_path / "allowed")
    with pytest.raises(InputError, match="is a private key"):
        Signer.of(key)


@pytest.mark.parametrize(
    ("options", "may_sign"),
    [
        ('namespaces="discreet"', True),
        ('namespaces="git,discreet"', True),
        ('NAMESPACES="disc?eet"', True),
        ('namespaces="*"', True),
        ('valid-after="20200101",valid-before="99980101Z"', True),
        ('valid-after="202001010000Z"', True),
        ('namespaces="git"', False),
        ('namespaces="discreet2,iscreet,discree"', False),
        ('namespaces="*,!discreet"', False),
        ('namespaces="!discreet,*"', False),
        ('namespaces="[d]iscreet"', False),
        ('namespaces=""', False),
        ('valid-before="20200101"', False),
        ('valid-after="99980101000000Z"', False),
        ("cert-authority", False),
        ('cert-authority,namespaces="discreet"', False),
    ],
)
def test_a_line_counts_where_its_options_allow_it(options: str, may_sign: bool, key: Path) -> None:
    line = f"me@example.org {options} {public_of(key).read_text()}"
    if may_sign:
        assert check(MESSAGE, sign(MESSAGE, key), line)
    else:
        with pytest.raises(InputError, match=r"no Ed25519 key .* that may sign"):
            Signer.of(line)


@pytest.mark.parametrize(
    "options",
    [
        "no-touch-required", 'namespaces="git",unknown="x"', "namespaces", "namespaces=git", 'namespaces="git",',
        'valid-after="soon"', 'valid-before="20209999"', 'valid-after="٢٠٢٠٠١٠١"', 'cert-authority="x"',
        'namespaces="git",namespaces="discreet"', 'valid-after="00010101"',
    ],
)  # fmt: skip
def test_a_line_with_options_that_are_not_known_is_not_relied_on(options: str, key: Path) -> None:
    with pytest.raises(InputError, match="line 1 of the signer"):
        Signer.of(f"me@example.org {options} {public_of(key).read_text()}")


def test_a_key_in_a_comment_is_not_a_signer(key: Path, tmp_path: Path) -> None:
    """Neither after the key, nor behind what other programs take for the end of a line."""
    line, other = (public_of(path).read_text().strip() for path in (key, new_key(tmp_path / "other")))
    wanted = Signer.of(line)
    bare = line.rsplit(" ", 1)[0]
    for before in (line, bare, f"me@example.org {line}", f"me@example.org {bare}"):
        for gap in (" ", "\t", "\u2028", "\x0b"):
            assert Signer.of(f"{before}{gap}{other}") == wanted
    for text in (f"# {line}\n", f"x y z {line}", line.replace(" AAAA", " BAAA"), f"{line[:-30]}"):
        (tmp_path / "file").write_text(text)
        with pytest.raises(InputError):
            Signer.of(tmp_path / "file")
    (tmp_path / "file").write_bytes(b"#" * (1 << 21))
    with pytest.raises(InputError, match="more than"):
        Signer.of(tmp_path / "file")


@each(text=st.text(max_size=80))
def test_no_text_is_a_signer_by_chance(text: str) -> None:
    with pytest.raises(InputError):
        Signer.of(f"{text} ssh-ed25519 AAAA")


def certificate() -> dc.Certificate:
    joint = dc.Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    return dc.certify(dc.design(joint, dc.LIP(0.5)))


def finding(verdict: dc.Verdict) -> tuple[bool | None, str]:
    (found,) = [finding for finding in verdict.findings if finding.subject == "signature"]
    return found.passed, found.text


def test_a_certificate_is_signed_by_its_public_part(key: Path, tmp_path: Path) -> None:
    private = certificate()
    text, name = private.sign(key), SigningKey.from_file(key).fingerprint
    assert text == private.public.sign(key)
    assert check(private.public.text().encode(), text, public_of(key)) == name
    passed, said = finding(dc.verify(private, signer=public_of(key), signature=text))
    assert passed
    assert said == f"by the key {name}, of the public part: not of counts, proof"
    private.public.to_json(tmp_path / "public.json")
    (tmp_path / "public.json.sig").write_text(text)
    signer = public_of(key).read_text()
    assert finding(dc.verify(tmp_path / "public.json", signer=signer)) == (True, f"by the key {name}")
    assert finding(dc.verify(str(tmp_path / "public.json"), signer=signer)) == (True, f"by the key {name}")


def test_a_certificate_that_was_sealed_anew_has_no_signature(key: Path) -> None:
    """What a digest cannot tell: whoever changes a certificate makes the digest anew."""
    private = certificate()
    text = private.sign(key)
    weaker = private.with_fields(versions={"discreet": "9"})
    assert dc.verify(weaker)
    verdict = dc.verify(weaker, signer=public_of(key), signature=text)
    assert not verdict
    assert finding(verdict) == (False, "the signature is of something else, or was changed")
    assert dc.verify(private, signer=public_of(key), signature=text)


def test_a_certificate_that_was_changed_is_not_signed(key: Path) -> None:
    changed = dc.Certificate({**certificate().to_dict(), "nmi": "0.999999"})
    with pytest.raises(InputError, match="was changed since it was sealed"):
        changed.sign(key)


def test_a_signer_that_was_asked_for_must_have_signed(key: Path, tmp_path: Path) -> None:
    private = certificate()
    private.to_json(tmp_path / "c.json")
    (tmp_path / "out.csv").write_text("job\na\n")
    for given, released in ((private, None), (tmp_path / "c.json", None), (private.to_dict(), tmp_path / "out.csv")):
        verdict = dc.verify(given, released=released, signer=public_of(key))
        assert not verdict
        assert finding(verdict) == (False, "there is none beside the certificate, and a signer was asked for")
    (tmp_path / "c.json.sig").mkdir()
    assert finding(dc.verify(tmp_path / "c.json", signer=public_of(key)))[0] is False
    (tmp_path / "damaged").write_bytes(b"\xff" * 100_000)
    passed, said = finding(dc.verify(private, signer=public_of(key), signature=tmp_path / "damaged"))
    assert (passed, "begins and ends" in said) == (False, True)
    with pytest.raises(InputError, match="cannot read the signature"):
        dc.verify(private, signer=public_of(key), signature=tmp_path / "nowhere")
    with pytest.raises(InputError, match="give the signer's public key"):
        dc.verify(private, signature=private.sign(key))
    with pytest.raises(InputError, match="cannot read the public key"):
        dc.verify(private, signer=tmp_path / "nowhere", signature=private.sign(key))


def test_a_private_certificate_finds_the_signature_of_its_release(key: Path, tmp_path: Path) -> None:
    private, name = certificate(), SigningKey.from_file(key).fingerprint
    private.to_json(tmp_path / "private.json")
    (tmp_path / "out.csv").write_text("job\na\n")
    (tmp_path / "out.csv.certificate.json.sig").write_text(private.sign(key))
    for given in (tmp_path / "private.json", private, private.public):
        passed, said = finding(dc.verify(given, released=tmp_path / "out.csv", signer=public_of(key)))
        assert (passed, name in said) == (True, True)
    private.public.to_json(tmp_path / "public.json")  # has a file of its own, and so has its signature
    assert (
        finding(dc.verify(tmp_path / "public.json", released=tmp_path / "out.csv", signer=public_of(key)))[0] is False
    )


@pytest.mark.parametrize("odd", [float("nan"), "\ud800", {1, 2}])
def test_a_certificate_that_cannot_be_written_has_no_signature(odd: Any, key: Path) -> None:
    from discreet.certificate.verification.signed import signature_finding

    private = certificate()
    changed = dc.Certificate({**private.to_dict(), "odd": odd})
    found = signature_finding(changed, private.sign(key), public_of(key), (None, None))
    assert found.passed is False

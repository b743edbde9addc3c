"""The style sheet and the script of the report's page."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

__all__ = ["SCRIPT", "STYLE"]

STYLE = """
.dr{--paper:#fdfdfb;--ink:#1c2126;--soft:#565d64;--line:#d9dbd8;--wash:#f2f3f0;--accent:#0b5a78;--on:#fff;
--u1:#e6f0f5;--u2:#cfe3ec;--u3:#b0d2e1;--u4:#8fbfd4;--u5:#6eabc5;--d1:#f0eeea;--d2:#e3dfd8;--d3:#d3cdc3;--d4:#c2baad;
--d5:#b0a697;color-scheme:light;background:var(--paper);color:var(--ink);line-height:1.55;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;font-size:1rem}
@media(prefers-color-scheme:dark){.dr{--paper:#14181c;--ink:#e8eaec;--soft:#a7afb6;--line:#343b42;--wash:#1d2328;
--accent:#7cc4e0;--on:#0d1418;--u1:#1b2a33;--u2:#1d3643;--u3:#1f4557;--u4:#22566e;--u5:#256886;--d1:#26241f;
--d2:#332f28;--d3:#413b31;--d4:#50483b;--d5:#605646;color-scheme:dark}}
.dr *{box-sizing:border-box}
.dr .in{max-width:62rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
.dr h1,.dr h2,.dr h3{font-family:Charter,"Bitstream Charter","Iowan Old Style",Cambria,Georgia,"Liberation Serif",serif;
line-height:1.2;text-wrap:balance;overflow-wrap:anywhere;color:var(--ink);font-weight:600}
.dr h1{font-size:clamp(1.75rem,4.5vw,2.6rem);margin:.2rem 0 1.5rem;letter-spacing:-.01em}
.dr h2{font-size:1.5rem;margin:3.5rem 0 .6rem;padding-top:1.1rem;border-top:1px solid var(--line)}
.dr h3{font-size:1.1rem;margin:1.8rem 0 .5rem}
.dr p,.dr li{max-width:44rem;margin:.5rem 0;overflow-wrap:anywhere}
.dr .soft,.dr caption,.dr figcaption{color:var(--soft);font-size:.9rem}
.dr .over{margin:0;color:var(--accent);font-size:.85rem;font-weight:600;letter-spacing:.08em;text-transform:uppercase}
.dr .verdict{border-left:.35rem solid var(--accent);background:var(--wash);padding:1.1rem 1.4rem;margin:0}
.dr .verdict p{margin:.35rem 0;max-width:none}
.dr .verdict .row{display:grid;grid-template-columns:6.5rem 1fr;gap:0 .6rem}
.dr .verdict .main{font-size:1.25rem;font-weight:600;line-height:1.35}
.dr .mark{color:var(--soft)}
.dr dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:1.2rem 2rem;margin:1.8rem 0}
.dr dl div{border-top:1px solid var(--line);padding-top:.5rem;display:flex;flex-direction:column-reverse;
justify-content:flex-end}
.dr dt{color:var(--soft);font-size:.85rem;line-height:1.35}
.dr dd{margin:0;font-size:1.6rem;font-variant-numeric:tabular-nums;line-height:1.3}
.dr .say{font-size:1.15rem;line-height:1.5;max-width:42rem}
.dr .scroll{position:relative;overflow-x:auto;margin:.8rem 0;max-width:100%}
.dr table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;background:none;border:0}
.dr caption{text-align:left;padding:0 0 .6rem;caption-side:top}
.dr caption span{display:block;overflow-wrap:anywhere;position:sticky;left:0;max-width:min(44rem,calc(100vw - 2.5rem))}
.dr th,.dr td{text-align:left;vertical-align:top;padding:.4rem 1.1rem .4rem 0;border:0;
border-bottom:1px solid var(--line);background:none;overflow-wrap:break-word}
.dr thead th{color:var(--soft);font-weight:600;vertical-align:bottom}
.dr thead th.name{min-width:7.5rem;max-width:14rem;overflow-wrap:anywhere}
.dr tbody th{font-weight:600;max-width:18rem;min-width:6rem;overflow-wrap:anywhere}
.dr tbody th.tiny{min-width:0;white-space:nowrap}
.dr td.wide{min-width:14rem;max-width:34rem;overflow-wrap:anywhere}
.dr .n{text-align:right;white-space:nowrap}
.dr .heat th,.dr .heat td{border:1px solid var(--paper);padding:.34rem .4rem}
.dr .heat tbody th{padding-left:0;font-weight:400;border-left:0;min-width:8rem;max-width:13rem;line-height:1.3;
vertical-align:middle;position:sticky;left:0;background:var(--paper)}
.dr .heat thead th{font-weight:400;padding-bottom:.5rem}
.dr .heat thead th:first-child{padding-left:0}
.dr .heat .up{height:8.5rem;text-align:left;vertical-align:bottom}
.dr .heat .up span{writing-mode:vertical-rl;transform:rotate(180deg);max-height:10rem;overflow:hidden;
display:inline-block;line-height:1.15}
.dr .heat td{text-align:center;vertical-align:middle;min-width:2.9rem;padding:.34rem .2rem;white-space:nowrap;
color:var(--ink);font-size:.84rem}
.dr .heat tr{height:2.4rem}
.dr .heat .out{font-weight:700;box-shadow:inset 0 0 0 2px var(--ink)}
.dr .heat .kept{min-width:3.6rem}
.dr .u1{background:var(--u1)!important}.dr .u2{background:var(--u2)!important}.dr .u3{background:var(--u3)!important}
.dr .u4{background:var(--u4)!important}.dr .u5{background:var(--u5)!important}.dr .d1{background:var(--d1)!important}
.dr .d2{background:var(--d2)!important}.dr .d3{background:var(--d3)!important}.dr .d4{background:var(--d4)!important}
.dr .d5{background:var(--d5)!important}
.dr .key{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;list-style:none;padding:0;margin:.8rem 0;font-size:.85rem;
color:var(--soft)}
.dr .key li{display:flex;align-items:center;gap:.45rem;margin:0}
.dr .chip{display:inline-block;width:1.6rem;height:1rem;border:1px solid var(--line)}
.dr .chip.ring{border:2px solid var(--ink)}
.dr .toggle{display:inline-flex;margin:.9rem 0 .4rem;border:1px solid var(--accent);border-radius:.35rem;
overflow:hidden}
.dr .toggle[hidden],.dr [hidden]{display:none}
.dr button{font:inherit;font-size:.95rem;padding:.45rem 1rem;border:0;background:var(--paper);color:var(--accent);
cursor:pointer}
.dr button[aria-pressed=true]{background:var(--accent);color:var(--on);font-weight:600}
.dr button[aria-pressed=true]::before{content:"\\2713\\00a0"}
.dr :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.dr button:focus-visible{outline-offset:-4px;outline-color:currentColor}
.dr .bars{list-style:none;padding:0;margin:1.2rem 0}
.dr .bars li{display:grid;grid-template-columns:11rem 1fr;gap:.2rem 1.2rem;align-items:center;max-width:none;
margin:.55rem 0}
.dr .bars .who{line-height:1.25;overflow-wrap:anywhere}
.dr .bars .who small{display:block;color:var(--soft);font-size:.82rem}
.dr .bar{display:flex;height:2.1rem;border:1px solid var(--accent);border-radius:.2rem;overflow:hidden}
.dr .bar span{flex:none;overflow:hidden;white-space:nowrap;font-size:.8rem;line-height:2.1rem;text-align:center;
border-left:1px solid var(--accent);font-variant-numeric:tabular-nums;color:var(--ink)}
.dr .bar span:first-child{border-left:0}
.dr .bar i{font-style:normal}
.dr figure{margin:1.2rem 0}
.dr svg{display:block;width:100%;max-width:44rem;height:auto}
.dr svg text{fill:var(--soft);font-size:13px}
.dr svg .grid{stroke:var(--line);stroke-width:1}
.dr svg .curve{fill:none;stroke:var(--soft);stroke-width:1.6}
.dr svg .c0{stroke:var(--accent);stroke-width:2.6}
.dr svg .c1{stroke-dasharray:7 4}.dr svg .c2{stroke-dasharray:2 4}
.dr svg .dot{fill:var(--paper);stroke:var(--soft);stroke-width:1.6}
.dr svg .dot.p0{fill:var(--accent);stroke:var(--accent)}
.dr svg .here{stroke:var(--accent);stroke-width:1.2;stroke-dasharray:3 3}
.dr svg .ring{fill:none;stroke:var(--accent);stroke-width:2}
.dr svg .name{fill:var(--accent);font-weight:600}
.dr .key svg{width:2.6rem;height:1rem}
.dr details{margin:.8rem 0}
.dr summary{cursor:pointer;color:var(--accent);width:fit-content;padding:.15rem 0}
.dr code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;font-size:.86em;
overflow-wrap:anywhere;background:none;color:inherit;padding:0}
.dr .warn{border:1px solid var(--ink);padding:.7rem 1rem;font-weight:600}
.dr footer{margin-top:3.5rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.85rem}
.dr .say-only{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(max-width:40rem){.dr .in{padding:1.5rem 1rem 3rem}.dr .bars li{grid-template-columns:1fr}
.dr svg text{font-size:20px}.dr .bar .thin i{display:none}
.dr dl{grid-template-columns:1fr 1fr;gap:1rem}.dr .verdict{padding:.9rem 1rem}
.dr .verdict .row{display:block}.dr .mark{display:block}.dr dd{font-size:1.35rem}
.dr .heat tbody th{min-width:6.5rem;max-width:8rem;font-size:.84rem}.dr td.wide{min-width:8.5rem}
.dr th,.dr td{padding-right:.8rem}}
@media print{.dr{--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--wash:#f4f4f4;--accent:#0b5a78;--on:#fff;--u1:#e6f0f5;
--u2:#cfe3ec;--u3:#b0d2e1;--u4:#8fbfd4;--u5:#6eabc5;--d1:#f0eeea;--d2:#e3dfd8;--d3:#d3cdc3;--d4:#c2baad;--d5:#b0a697;
font-size:10pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}.dr .in{max-width:none;padding:0}
.dr .toggle{display:none}.dr [data-map][hidden]{display:block}.dr .scroll{overflow:visible}
.dr h2{break-after:avoid;margin-top:2rem}.dr figure,.dr .bars li,.dr tr,.dr .verdict{break-inside:avoid}
.dr summary{display:none}.dr details::details-content{content-visibility:visible;block-size:auto;opacity:1}
.dr .heat,.dr .heat td{font-size:7pt}.dr .heat td{min-width:0;padding:.2rem .1rem}.dr .heat .kept{min-width:0}}
"""

SCRIPT = """
(function () {
  var bar = document.querySelector(".toggle");
  if (!bar) { return; }
  var buttons = bar.querySelectorAll("button");
  function show(which) {
    buttons.forEach(function (b) { b.setAttribute("aria-pressed", String(b.value === which)); });
    document.querySelectorAll("[data-map]").forEach(function (m) { m.hidden = m.dataset.map !== which; });
  }
  buttons.forEach(function (b) { b.addEventListener("click", function () { show(b.value); }); });
  bar.hidden = false;
  show("before");
})();
"""

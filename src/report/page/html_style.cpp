// The style and the script of HTML reports.
#include "report/page/table_html.h"

namespace stepscope::report {

// The series colours are those of Okabe and Ito, which people who see red and green alike can tell
// apart; the last one is grey, for what is left over.
const std::string_view kHtmlStyle = R"(
:root{color-scheme:light dark;--page:#fff;--ink:#1a1d21;--soft:#5c6570;--line:#dfe3e8;--card:#f6f8fa;
--bar:#cfe3f5;--bad:#b3261e;
--s0:#0072b2;--s1:#e69f00;--s2:#56b4e9;--s3:#cc79a7;--s4:#009e73;--s5:#d55e00;--s6:#b8a900;--s7:#8a94a0;--rest:#c9d0d8}
@media (prefers-color-scheme:dark){:root{--page:#14171a;--ink:#e6e9ed;--soft:#9aa5b1;--line:#2d343b;
--card:#1c2126;--bar:#1f4260;--bad:#ff8a80;
--s0:#4aa3e0;--s1:#f0b429;--s2:#8fd0f7;--s3:#e09bc4;--s4:#35c99b;--s5:#ff8a4c;--s6:#e3d84a;--s7:#7d8894;--rest:#3b444d}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1020px;margin:0 auto;padding:28px 24px 64px}
h1{font-size:21px;margin:0 0 14px;overflow-wrap:anywhere}
h2{font-size:18px;margin:44px 0 4px;padding-top:14px;border-top:1px solid var(--line)}
h3{font-size:14px;margin:18px 0 4px}
p{margin:4px 0 10px;max-width:46em}
.about,.more{color:var(--soft)}
.more{font-size:13px}
*+p.about{margin-top:14px}h2+p.about{margin-top:4px}
.remark{border-left:3px solid var(--s1);padding:4px 12px;background:var(--card)}
.lost h2{color:var(--bad)}
.finding{border-left:4px solid var(--line);background:var(--card);border-radius:4px;padding:8px 14px;margin:10px 0}
.finding summary{cursor:pointer}.finding summary i{color:var(--soft);font-style:normal;font-size:13px;margin-left:8px}
.finding.critical{border-color:var(--bad)}.finding.warning{border-color:var(--s1)}.finding.notice{border-color:var(--s0)}
.finding .level{text-transform:uppercase;font-size:11px;letter-spacing:.04em;margin-right:6px}
.finding.critical .level{color:var(--bad)}.finding dl.facts{padding:6px 0;background:none}
nav{font-size:13px;margin:16px 0 0;line-height:1.9}
nav a{margin-right:14px;white-space:nowrap}
a{color:var(--s0)}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:3px 16px;margin:0;padding:14px 18px;background:var(--card);border-radius:8px}
dl.facts dt{color:var(--soft)}dl.facts dd{margin:0;overflow-wrap:anywhere}
dl.words dt{font-weight:600;margin-top:8px}dl.words dd{margin:0 0 0 1.5em;max-width:46em}
.scroll{overflow-x:auto;margin:8px 0 4px}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
th{font-weight:600;text-align:left;vertical-align:bottom;color:var(--soft);border-bottom:1px solid var(--line);padding:4px 10px 4px 0}
td{padding:3px 10px 3px 0;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}
th.n,td.n{text-align:right}
td.t{white-space:normal;overflow-wrap:anywhere;min-width:16em;max-width:40em}
td.w{white-space:normal;min-width:5em}
td.z{color:var(--soft)}
td.b{background:linear-gradient(var(--bar),var(--bar)) no-repeat 0 5px/var(--p) 15px;min-width:96px}
th[data-sort]{cursor:pointer;text-decoration:underline dotted;text-underline-offset:3px}
.chart{width:100%;max-width:860px;height:auto;display:block;margin:6px 0;font-size:11.5px}
.chart text{fill:var(--ink);paint-order:stroke;stroke:var(--page);stroke-width:3px}.chart .rule{stroke:var(--line);fill:none}
.chart rect:hover{opacity:.75}
.chart .tip{fill:var(--ink);opacity:0}.chart .tip:hover{opacity:.12}
.chart .mark{stroke:var(--ink);stroke-width:.7;stroke-dasharray:2 3;fill:none}
.chart .level{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:6 3;fill:none}
.b0{fill:var(--bar)}.b1{fill:var(--rest)}.b2{fill:var(--line)}
.legend{font-size:13px;margin:6px 0 0;max-width:none}.legend span{margin-right:16px;white-space:nowrap}
.legend i{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px}
.s0{fill:var(--s0);background:var(--s0)}.s1{fill:var(--s1);background:var(--s1)}
.s2{fill:var(--s2);background:var(--s2)}.s3{fill:var(--s3);background:var(--s3)}
.s4{fill:var(--s4);background:var(--s4)}.s5{fill:var(--s5);background:var(--s5)}
.s6{fill:var(--s6);background:var(--s6)}.s7{fill:var(--s7);background:var(--s7)}
.rest{fill:var(--rest);background:var(--rest)}
.l0,.l1,.l2,.l3,.l4,.l5,.l6,.l7{fill:none;stroke-width:1.5;stroke-linejoin:round}
.l0{stroke:var(--s0)}.l1{stroke:var(--s1)}.l2{stroke:var(--s2)}.l3{stroke:var(--s3)}
.l4{stroke:var(--s4)}.l5{stroke:var(--s5)}.l6{stroke:var(--s6)}.l7{stroke:var(--s7)}
details{margin:6px 0}summary{cursor:pointer;color:var(--s0);font-size:14px}
code,pre{font:12.5px/1.7 ui-monospace,"SF Mono",Consolas,"DejaVu Sans Mono",monospace}
pre{background:var(--card);padding:12px 16px;border-radius:8px;overflow-x:auto;margin:8px 0}
pre i{color:var(--soft);font-style:normal}
footer{margin-top:40px;color:var(--soft);font-size:13px}
@media print{main{max-width:none;padding:0}details{display:block}nav{display:none}}
)";

// A click on a heading sorts by what stands in data-v, or by the text; nulls stay at the end.
const std::string_view kHtmlScript = R"(
for(const table of document.querySelectorAll('table')){
const heads=[...table.tHead.rows[0].cells];
heads.forEach((head,column)=>{head.dataset.sort='';head.title=(head.title?head.title+' · ':'')+'click to sort';
head.addEventListener('click',()=>{
const down=head.dataset.sort!=='down';heads.forEach(h=>h.dataset.sort='');head.dataset.sort=down?'down':'up';
const key=row=>{const cell=row.cells[column];return cell.dataset.v===undefined?cell.textContent:cell.dataset.v===''?null:Number(cell.dataset.v)};
const rows=[...table.tBodies[0].rows].map(row=>[key(row),row]);
rows.sort((a,b)=>a[0]===null?(b[0]===null?0:1):b[0]===null?-1:(a[0]<b[0]?-1:a[0]>b[0]?1:0)*(down&&typeof a[0]==='number'||!down&&typeof a[0]!=='number'?-1:1));
table.tBodies[0].append(...rows.map(r=>r[1]))})})}
)";

}  // namespace stepscope::report

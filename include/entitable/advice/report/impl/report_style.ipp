// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/config.hpp>

#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The style of a report. Blue shades represent amounts; orange and red represent slow and refused requests, which are also labelled.
inline constexpr std::string_view report_style = R"(
 :root{color-scheme:light dark;--page:#f5f6f8;--card:#fff;--ink:#1a1d23;--soft:#555c67;--grid:#e4e7ec;--axis:#9aa2ae;--edge:#e1e4ea;
 --a:#1f5fbf;--b:#b4560a;--c:#b3261e;--area:#dbe7f8;--band:#f0efe4;--ground:#f3f5f8;--code:#f3f5f8;
 --problem:#b3261e;--warning:#8a5300;--note:#3c5a80;--fine:#1c6b3c;
 --q1:#d5e3f6;--q2:#b3cdf0;--q3:#8bb3e6;--q4:#6296d9;--q5:#3d79c8;--q6:#225aa8;--q7:#103b7a}
 @media (prefers-color-scheme:dark){:root{--page:#101318;--card:#181c23;--ink:#e8ebf0;--soft:#a5adba;--grid:#2a303a;--axis:#667080;
 --edge:#2a303a;--a:#76aef5;--b:#eda062;--c:#f28b82;--area:#1f3350;--band:#2b2a20;--ground:#1f252e;--code:#11151b;
 --problem:#f28b82;--warning:#f0b860;--note:#9dbbe0;--fine:#7fce9b;
 --q1:#1d3557;--q2:#25497a;--q3:#2f619f;--q4:#447fc6;--q5:#6b9fe0;--q6:#9cc1f0;--q7:#dbeafc}}
 *{box-sizing:border-box}
 body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
 main{max-width:1080px;margin:0 auto;padding:24px 16px 48px}
 h1{font-size:1.75rem;line-height:1.2;margin:8px 0 4px}
 h2{font-size:1.25rem;margin:40px 0 12px}
 h3{font-size:1rem;margin:0}
 h1,h2,h3{overflow-wrap:anywhere}
 p{margin:4px 0;overflow-wrap:anywhere}
 code,pre{font:0.875rem/1.45 ui-monospace,"Cascadia Mono",Consolas,"DejaVu Sans Mono",monospace}
 .soft{color:var(--soft)}
 .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:20px 0 0}
 .tiles div,figure,.card{background:var(--card);border:1px solid var(--edge);border-radius:10px}
 .tiles div{padding:12px 16px;min-width:0}
 dl{margin:0}dd,dt{margin:0;overflow-wrap:anywhere}
 dt{font-size:.8125rem;color:var(--soft)}
 .tiles dd{font-size:1.375rem;font-weight:600;line-height:1.3}
 .tiles dd+dd{font-size:.8125rem;font-weight:400;color:var(--soft)}
 .card{padding:14px 18px;margin:0 0 12px;min-width:0}
 .card dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 12px;margin-top:6px}
 .card dt{padding-top:2px}
 .how{display:inline-block;font-size:.8125rem;font-weight:600;border:1.5px solid currentColor;border-radius:99px;padding:0 9px;margin-right:8px}
 .problem{color:var(--problem)}.warning{color:var(--warning)}.note{color:var(--note)}.fine{color:var(--fine)}
 main .figures>.card{margin:0;padding:16px 18px}
 .figures{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:16px;align-items:start}
 main .figures>:only-child,#members{grid-column:1/-1}
 main figure{margin:0;padding:16px 18px;min-width:0}
 figcaption p{color:var(--soft);font-size:.875rem}
 svg{display:block;width:100%;height:auto;max-width:620px;margin:10px auto 0}
 svg text{font-size:12px;fill:var(--soft);font-family:inherit}
 svg .name{fill:var(--soft);font-weight:600}svg .value{fill:var(--ink)}
 .grid,.axis,.plain,.mark,polyline{fill:none;stroke-width:1}
 .grid{stroke:var(--grid)}.axis{stroke:var(--axis)}
 .plain{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:5 4}
 .mark{stroke:var(--axis);stroke-dasharray:2 3}
 polyline{stroke-width:2;stroke-linejoin:round}
 polyline.plain{stroke-width:1.5}
 polyline.a{stroke:var(--a)}polyline.b{stroke:var(--b)}polyline.c{stroke:var(--c)}
 circle.a{fill:var(--a)}circle.c{fill:var(--card);stroke:var(--c);stroke-width:2}
 .bar{fill:var(--q4)}.last{fill:var(--q6)}.area{fill:var(--area)}.band{fill:var(--band)}.ground{fill:var(--ground)}
 .q1{fill:var(--q1);background:var(--q1)}.q2{fill:var(--q2);background:var(--q2)}.q3{fill:var(--q3);background:var(--q3)}
 .q4{fill:var(--q4);background:var(--q4)}.q5{fill:var(--q5);background:var(--q5)}.q6{fill:var(--q6);background:var(--q6)}
 .q7{fill:var(--q7);background:var(--q7)}
 .legend{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:.8125rem;color:var(--soft);margin-top:8px}
 .legend span{display:inline-flex;align-items:center}
 .legend i{display:inline-block;width:14px;height:12px}
 .legend i.line{width:20px;height:0;border-top:2.5px solid;margin-right:6px}
 .legend i.plain{border-top-style:dashed;border-color:var(--soft)}
 .legend i.a{border-color:var(--a)}.legend i.b{border-color:var(--b)}.legend i.c{border-color:var(--c)}
 .legend i.band{background:var(--band);border:1px solid var(--axis);margin-right:6px}
 .legend i.dot{width:10px;height:10px;border-radius:50%;border:2px solid;margin-right:6px}
 .legend i.dot.a{background:var(--a);border-color:var(--a)}.legend i.dot.c{border-color:var(--c)}
 .scroll{overflow-x:auto;margin:10px 0;max-width:100%}
 table{border-collapse:collapse;font-size:.875rem;width:100%}
 caption{text-align:left;font-weight:600;padding:0 0 6px}
 th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--edge);vertical-align:top}
 th{color:var(--soft);font-weight:600}
 td{overflow-wrap:anywhere}
 .n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}details td.n{white-space:normal}
 pre{background:var(--code);border:1px solid var(--edge);border-radius:8px;padding:10px 14px;overflow-x:auto;margin:8px 0}
 summary{cursor:pointer;font-size:.875rem;color:var(--soft);margin-top:8px}
 :focus-visible{outline:2px solid var(--a);outline-offset:2px}
 footer{margin-top:40px;font-size:.875rem;color:var(--soft)}
 @media (max-width:760px){.figures{grid-template-columns:minmax(0,1fr)}}
 @media (max-width:480px){main{padding:16px 10px 40px}main figure{padding:14px 12px}svg text{font-size:14px}
 .card dl{grid-template-columns:minmax(0,1fr)}
 .stacked,.stacked tbody,.stacked tr,.stacked td,.stacked caption{display:block}.stacked thead{display:none}
 .stacked tr{border-bottom:1px solid var(--edge);padding:6px 0}
 .stacked td{display:flex;justify-content:space-between;gap:12px;border:0;padding:2px 0;text-align:right}
 .stacked td:empty{display:none}
 .stacked td.n{white-space:normal}
 .stacked td[data-name=""]{justify-content:flex-start;font-weight:600}
 .stacked td::before{content:attr(data-name);color:var(--soft);font-weight:600;text-align:left;flex:none;max-width:60%}
 .stacked td[data-name=""]::before{display:none}}
 @media print{:root{color-scheme:light}body{background:#fff;font-size:11pt}main{max-width:none;padding:0}
 main figure,.card,.tiles div{break-inside:avoid}.scroll{overflow:visible}details{display:none}pre{white-space:pre-wrap}}
)";

} // namespace detail
ENTITABLE_END_NAMESPACE

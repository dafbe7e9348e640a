// HTML character references in cells.
import { golden } from './golden.ts';

const CELLS: readonly (readonly [string, string])[] = [
  ['Caf&eacute; &amp; Bar', 'Café & Bar'],
  ['&lt;b&gt; &quot;it&apos;s&quot; &AMP;', '"<b> ""it\'s"" &"'],
  ['it&#39;s it&#x27;s it&#X27;s', "it's it's it's"],
  ['a&nbsp;b', 'a\u00a0b'],
  ['10 &euro; &#8364; &#x20ac; &#128; &#146;', '10 € € € € ’'],
  ['&Alpha;&thetasym;&frac12;&there4;&yuml;&hearts;', 'Αϑ½∴ÿ♥'],
  ['&#128512;', '😀'],
  ['&amp;lt;', '&lt;'],
  ['AT&T & co; &unknown; &amp', 'AT&T & co; &unknown; &amp'],
  ['?a=1&copy=2&#39', '?a=1&copy=2&#39'],
  ['&#0; &#xD800; &#x110000; &#9999999;', '&#0; &#xD800; &#x110000; &#9999999;'],
  ['&constructor; &Amp;', '&constructor; &Amp;'],
];

golden('unescape_html', [
  {
    name: 'names, numbers, and what is neither',
    template: 'operations: [{text: {columns: [a], steps: [unescape_html]}}]\noutput: {formula_guard: "off"}',
    input: `a\tx\n${CELLS.map(([from]) => `${from}\t.\n`).join('')}`,
    output: `a,x\n${CELLS.map(([, to]) => `${to},.\n`).join('')}`,
  },
  {
    name: 'after remove_tags',
    template: 'operations: [{text: {columns: [a], steps: [remove_tags, unescape_html, trim]}}]',
    input: 'a\tx\n<p>1 &lt; 2&nbsp;</p>\t.\n',
    output: 'a,x\n1 < 2,.\n',
  },
]);

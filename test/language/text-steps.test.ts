// The steps of the operation `text`.
import { golden } from './golden.ts';

const steps = (list: string, pairs: readonly (readonly [string, string])[]) => ({
  name: list,
  template: `operations: [{text: {columns: [a], steps: [${list}]}}]\noutput: {formula_guard: "off"}`,
  input: `a\tx\n${pairs.map(([from]) => `${from}\t.\n`).join('')}`,
  output: `a,x\n${pairs.map(([, to]) => `${to},.\n`).join('')}`,
});

golden('text', [
  steps('trim', [
    ['\u00A0 a  b \u3000', 'a  b'],
    ['   ', ''],
  ]),
  steps('collapse_spaces', [
    [' a \u00A0  b ', ' a b '],
    ['a', 'a'],
  ]),
  steps('trim, collapse_spaces', [['  a   b ', 'a b']]),
  steps('upper', [['straße ı i ǆ é', 'STRASSE I I Ǆ É']]),
  steps('lower', [['ÀÉÎ ΑΣ İ', 'àéî ας i̇']]),
  steps('title', [
    ['mary ANN o’neil-smith', 'Mary Ann O’neil-Smith'],
    ['élan VITAL', 'Élan Vital'],
    ['ﬁnance ﬀ', 'Finance Ff'],
    ['İSTANBUL izmir', 'İstanbul Izmir'],
    ['i\u0307stanbul', 'İstanbul'],
  ]),
  steps('sentence', [
    ['HELLO WORLD. next. ﬂow', 'Hello world. Next. Flow'],
    ['İSTANBUL. İZMIR', 'İstanbul. İzmir'],
  ]),
  steps('nfc', [['e\u0301', '\u00E9']]),
  steps('nfkc', [['ﬁ ①', 'fi 1']]),
  steps('strip_accents', [
    ['Crème Brûlée Łódź', 'Creme Brulee Lodz'],
    ['Weiß Æsop œuvre', 'Weiss AEsop oeuvre'],
    ['ΆΈ Ёй Việt', 'ΑΕ Еи Viet'],
    ['ガギ हिन्दी กำ מָ', 'ガギ हिन्दी กำ מָ'],
    [`e${'\u0301'.repeat(1500)}x`, 'ex'],
  ]),
  steps('remove_invisible', [
    ['a\u200Bb\uFEFFc\u00ADd', 'abcd'],
    ['👩\u200D💻 ❤\uFE0F\u200D🔥 👩🏽\u200D🚀 1\uFE0F\u20E3', '👩\u200D💻 ❤\uFE0F\u200D🔥 👩🏽\u200D🚀 1\uFE0F\u20E3'],
    ['🏴\u{E0067}\u{E0062}\u{E007F}x\u{E0067}', '🏴\u{E0067}\u{E0062}\u{E007F}x'],
    ['می\u200Cخواهم\u200C', 'می\u200Cخواهم'],
    ['क्\u200Dष 葛\u{E0100}', 'क्\u200Dष 葛\u{E0100}'],
    ['a\u200Cb\u200Dc d\uFE0F 👩\u200Dx', 'abc d 👩x'],
  ]),
  steps('remove_control', [
    ['a\u0007b', 'a b'],
    ['\u0001a\u0085\u0002b\u0001', 'a b'],
  ]),
  steps('straighten_quotes', [['‘b’ it’s', "'b' it's"]]),
  steps('remove_tags', [
    ['<b>bold</b> &amp; <br/>x', 'bold &amp; x'],
    ['a < b > c', 'a < b > c'],
    ['<b title="x > y">bold</b> <a href=\'x>y\' id= ">">l</a>', 'bold l'],
    ['<img alt="5" tall">x <a title="open>y', 'x y'],
    ['<!-- <b>old</b> > -->new <!-- <p <b>x</b <', 'new <!-- <p x</b <'],
    ["<a b=it's>x</a> isn't", "x isn't"],
    ['<p>a</p><p>b</p>', 'a b'],
    ['a<br>b<BR/>c<br> d <b>e</b>f', 'a b c d ef'],
    ['<ul><li>a<li>b</ul>c', 'a b c'],
    ['x<script>if (a < b) { "<p>" }</script >y<style type="a">p {}</style>z', 'xyz'],
    ['a<script>b', 'ab'],
    ['a<scripts>b</script>', 'ab'],
  ]),
  steps('digits_only', [
    ['+49 (30) 12-3', '4930123'],
    ['none', ''],
  ]),
  steps('letters_only', [['a1 é-b', 'aéb']]),
  steps('fix_encoding', [
    ['CafÃ© MÃ¼nchen', 'Café München'],
    ['CafÃƒÂ©', 'Café'],
    ['CafÃƒÆ’Ã‚Â©', 'Café'],
    ['â‚¬ 5 â€žÅ›â€œ', '€ 5 „ś“'],
    ['Ð¢ÐµÑ\u0081Ñ‚', 'Тест'],
    ['Ã\u0083Â©', 'é'],
    ['ðŸ˜€', '😀'],
    ['Café Ã©', 'Café Ã©'],
    ['Ã', 'Ã'],
    ['Ã© Ã', 'Ã© Ã'],
    ['À\u00A0»', 'À\u00A0»'],
    ['日本 Ã©', '日本 Ã©'],
    ['BEYONCÉ’S', 'BEYONCÉ’S'],
    ['PERÚ…', 'PERÚ…'],
    ['majÄ…', 'mają'],
  ]),
  steps('{pad_left: {length: 5, char: "0"}}', [
    ['42', '00042'],
    ['123456', '123456'],
    ['', ''],
  ]),
  steps('{pad_right: {length: 3, char: "."}}', [['é', 'é..']]),
  steps('{truncate: 2}', [
    ['😀ab', '😀a'],
    ['a', 'a'],
  ]),
  steps('{prefix: "<"}, {suffix: ">"}', [
    ['a', '<a>'],
    ['', ''],
  ]),
  steps('{remove_chars: ".-"}', [['1.2-3', '123']]),
  steps('{keep_chars: "abc"}', [['xaybzc', 'abc']]),
]);

// Texts as content of XML elements in plain TypeScript: twin of the kernel (assembly/xml-text.ts).

/** What is escaped: markup, characters that XML 1.0 lacks, CR (which readers make LF), and what reads like such an escape. */
const ESCAPED = /[&<>\u0000-\u0008\u000b-\u001f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)/g;

const MARKUP: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]);

/** White space at an end is lost unless the element keeps it. */
const EDGE_SPACE = /^[ \t\n]|[ \t\n]$/;

/** Controls as spreadsheets write them, `_x0000_`. */
export function xmlText(text: string): string {
  return text.replace(ESCAPED, (character) => MARKUP.get(character) ?? escapeOf(character));
}

export function hasEdgeSpace(text: string): boolean {
  return EDGE_SPACE.test(text);
}

function escapeOf(character: string): string {
  return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
}

// Takes the tags of HTML out of a text, in one pass: what looks like a tag ends before the next `<`, and an end that is
// not found is looked for once, so that no text costs the square of its length.

const TAG_START = /^<(?:\/?[A-Za-z]|[!?])/;
const TAG_START_UNITS = 3;

/** Tags whose beginning or end parts lines, blocks or cells of a table (HTML Standard, 15.3 "Non-replaced elements"). */
const PARTING_TAGS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol optgroup option p pre search section select ' +
    'summary table tbody td textarea tfoot th thead title tr ul'
  ).split(' '),
);

/** Their contents are no text of the page. */
const HIDDEN_TAGS = ['script', 'style'] as const;

/**
 * Without comments, tags, scripts and styles; where a tag parted two texts, a space does. A `>` inside a quoted value of a
 * tag does not end it. A `<` that begins no tag stays.
 */
export function removeTags(text: string): string {
  const bare = withoutHidden(withoutComments(text));
  const pieces = new TextPieces();
  let from = 0;
  for (let at = bare.indexOf('<'); at >= 0; ) {
    const next = bare.indexOf('<', at + 1);
    const end = endOfTag(bare, at, next < 0 ? bare.length : next);
    if (end !== null) {
      pieces.add(bare.slice(from, at));
      if (PARTING_TAGS.has(tagName(bare, at))) pieces.part();
      from = end;
    }
    at = next;
  }
  pieces.add(bare.slice(from));
  return pieces.text;
}

/** Puts texts together, with a space where two were parted and have none between them. */
class TextPieces {
  text = '';
  #isParted = false;

  part(): void {
    this.#isParted = this.text !== '';
  }

  add(piece: string): void {
    if (piece === '') return;
    if (this.#isParted && !/^\s/.test(piece) && !/\s/.test(this.text.at(-1)!)) this.text += ' ';
    this.#isParted = false;
    this.text += piece;
  }
}

const TAG_NAME = /<\/?([A-Za-z][A-Za-z0-9]{0,15})/y;

/** In small letters; empty for a declaration, and for names longer than any that matters. */
function tagName(text: string, at: number): string {
  TAG_NAME.lastIndex = at;
  return TAG_NAME.exec(text)?.[1]?.toLowerCase() ?? '';
}

/** Leaves out what stands between the beginning and the end of a script or style; one without an end stays. */
function withoutHidden(text: string): string {
  let bare = text;
  for (const name of HIDDEN_TAGS) bare = withoutElement(bare, name);
  return bare;
}

function withoutElement(text: string, name: string): string {
  const begin = new RegExp(`<${name}(?=[\\s/>])`, 'gi');
  const end = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  let made = '';
  let from = 0;
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    end.lastIndex = found.index;
    const last = end.exec(text);
    if (last === null) break;
    made += text.slice(from, found.index);
    from = last.index;
    begin.lastIndex = from;
  }
  return made + text.slice(from);
}

function withoutComments(text: string): string {
  let made = '';
  let from = 0;
  for (;;) {
    const at = text.indexOf('<!--', from);
    const end = at < 0 ? -1 : text.indexOf('-->', at);
    if (end < 0) return made + text.slice(from);
    made += text.slice(from, at);
    from = end + '-->'.length;
  }
}

/** Behind the `>` that ends the tag at `at`; null where none begins, or where it does not end before `next`. */
function endOfTag(text: string, at: number, next: number): number | null {
  if (!TAG_START.test(text.slice(at, at + TAG_START_UNITS))) return null;
  let isValueNext = false;
  for (let i = at + 1; i < next; i++) {
    const sign = text[i]!;
    if (sign === '>') return i + 1;
    if (isValueNext && (sign === '"' || sign === "'")) {
      const close = text.indexOf(sign, i + 1);
      // A quote without its like is a sign like others.
      if (close >= 0 && close < next) i = close;
    }
    isValueNext = sign === '=' || (isValueNext && sign <= ' ');
  }
  return null;
}

// Edits of a Template's text by whole operations: those of a YAML list with one operation on each item's first line. What is
// written otherwise (JSON, a list in brackets) has no items here and is edited by hand. Comments above an operation go with it.

export interface ListItem {
  /** Lines from 0: its comments and itself, up to and without `to`. */
  readonly from: number;
  readonly to: number;
  /** The line with the dash. */
  readonly head: number;
  readonly name: string;
  readonly isOff: boolean;
}

const OFF = /\benabled:\s*false\b/;

export function listItems(text: string): readonly ListItem[] {
  const lines = text.split('\n');
  const list = lines.findIndex((line) => /^operations:\s*(?:#.*)?$/.test(line));
  if (list < 0) return [];
  const next = lines.findIndex((line, index) => index > list && /^[^\s#-]/.test(line));
  let end = next < 0 ? lines.length : next;
  while (end > list + 1 && /^\s*$/.test(lines[end - 1]!)) end--;
  const dash = /^(\s*)- /.exec(lines.slice(list + 1, end).find((line) => /^\s*- /.test(line)) ?? '');
  if (dash === null) return [];
  const heads = lines.flatMap((line, index) =>
    index > list && index < end && line.startsWith(`${dash[1]}- `) ? [index] : [],
  );
  const starts = heads.map((head) => {
    let from = head;
    while (from - 1 > list && /^\s*#/.test(lines[from - 1]!)) from--;
    return from;
  });
  return heads.map((head, index) => {
    const to = starts[index + 1] ?? end;
    const name = /^\s*- \{?\s*(?:op:\s*)?"?(\w+)/.exec(lines[head]!)?.[1] ?? '';
    return { from: starts[index]!, to, head, name, isOff: OFF.test(lines.slice(head, to).join('\n')) };
  });
}

/** Off where it is on, and on where it is off; null: nobody knows how. */
export function switched(text: string, item: number): string | null {
  const found = listItems(text)[item];
  if (found === undefined) return null;
  const body = text.split('\n').slice(found.head, found.to).join('\n');
  const edited = found.isOff ? switchedOn(body) : switchedOff(body);
  return edited === null ? null : replaced(text, found.head, found.to, edited.split('\n'));
}

export function duplicated(text: string, item: number): string | null {
  const found = listItems(text)[item];
  if (found === undefined) return null;
  const lines = text.split('\n').slice(found.head, found.to);
  return replaced(text, found.to, found.to, lines);
}

/** To the place of another one. */
export function moved(text: string, item: number, to: number): string | null {
  const items = listItems(text);
  const [found, target] = [items[item], items[to]];
  if (found === undefined || target === undefined || item === to) return text;
  const lines = text.split('\n');
  const own = lines.slice(found.from, found.to);
  const place = to > item ? target.to : target.from;
  const without = [...lines.slice(0, found.from), ...lines.slice(found.to)];
  const at = place > found.from ? place - own.length : place;
  return [...without.slice(0, at), ...own, ...without.slice(at)].join('\n');
}

function replaced(text: string, from: number, to: number, lines: readonly string[]): string {
  const all = text.split('\n');
  return [...all.slice(0, from), ...lines, ...all.slice(to)].join('\n');
}

function switchedOff(body: string): string | null {
  const forms: readonly (readonly [RegExp, string])[] = [
    [/^(\s*- \{\s*op:\s*"?\w+"?)/, '$1, enabled: false'],
    [/^(\s*- \{?\s*\w+:\s*\{)\s*\}/, '$1enabled: false}'],
    [/^(\s*- \{?\s*\w+:\s*\{)/, '$1enabled: false, '],
    [/^(\s*)- (op:\s*\w+\s*)$/m, '$1- $2\n$1  enabled: false'],
    [/^(\s*)- (\w+:)\s*\n(\s+)/, '$1- $2\n$3enabled: false\n$3'],
  ];
  const form = forms.find(([pattern]) => pattern.test(body));
  return form === undefined ? null : body.replace(form[0], form[1]);
}

function switchedOn(body: string): string | null {
  for (const pattern of [
    /\n\s*enabled:\s*false(?=\n|$)/,
    /\benabled:\s*false\s*,\s*/,
    /\s*,?\s*\benabled:\s*false\b/,
  ]) {
    if (pattern.test(body)) return body.replace(pattern, '');
  }
  return null;
}

// Extracts from a page, in its order, the files to write and the commands with their expected output. Reads Markdown
// and runs nothing.
//
// A fence of `sh` holds commands. A fence directly below it, with no name of a file, shows what they print. A fence with a
// name after its language, such as `yaml bank.yaml`, is a file that the reader has from there on.

/** Languages in which pages show what commands print. */
const SHOWN_LANGUAGES = ['text', 'json', 'csv', 'yaml'];

export interface Shown {
  readonly text: string;
  /** Lines of the page between its fences, from 0: the first one, and the first one after. */
  readonly from: number;
  readonly to: number;
  readonly indent: string;
}

export interface CommandBlock {
  readonly kind: 'commands';
  /** Of its fence in the page, from 1. */
  readonly line: number;
  readonly commands: readonly string[];
  /** Null: the page does not say what they print. */
  readonly shown: Shown | null;
}

export interface FileBlock {
  readonly kind: 'file';
  readonly line: number;
  readonly name: string;
  readonly text: string;
}

export interface Fence {
  readonly language: string;
  readonly name: string | null;
  readonly indent: string;
  readonly lines: readonly string[];
  /** Of its first line within, from 0. */
  readonly from: number;
}

export function readerSteps(markdown: string): (CommandBlock | FileBlock)[] {
  const fences = fencesOf(markdown);
  const page = markdown.split('\n');
  return fences.flatMap((fence, index): (CommandBlock | FileBlock)[] => {
    const line = fence.from;
    if (fence.name !== null) return [{ kind: 'file', line, name: fence.name, text: `${fence.lines.join('\n')}\n` }];
    if (fence.language !== 'sh') return [];
    const next = fences[index + 1];
    const shown = next !== undefined && showsOutput(next) && isDirectlyBelow(page, fence, next) ? next : null;
    return [{ kind: 'commands', line, commands: commandsIn(fence.lines), shown: shown && shownIn(shown) }];
  });
}

export function fencesOf(markdown: string): Fence[] {
  const lines = markdown.split('\n');
  const fences: Fence[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const head = /^( *)```(\S*)(?: +(\S+))?$/.exec(lines[at]!);
    if (head === null) continue;
    const [, indent = '', language = '', name = null] = head;
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    if (end < 0) throw new Error(`the fence of line ${at + 1} has no end`);
    const within = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    fences.push({ language, name, indent, lines: within, from: at + 1 });
    at = end;
  }
  return fences;
}

/** The page with other lines in the places of what it shows. */
export function withShown(markdown: string, written: ReadonlyMap<Shown, string>): string {
  const lines = markdown.split('\n');
  for (const [{ from, to, indent }, text] of [...written].sort(([a], [b]) => b.from - a.from)) {
    lines.splice(from, to - from, ...text.split('\n').map((line) => (line === '' ? '' : indent + line)));
  }
  return lines.join('\n');
}

function showsOutput({ language, name }: Fence): boolean {
  return name === null && SHOWN_LANGUAGES.includes(language);
}

function isDirectlyBelow(page: readonly string[], { from, lines }: Fence, below: Fence): boolean {
  const after = from + lines.length + 1;
  return page.slice(after, below.from - 1).every((line) => line.trim() === '');
}

function shownIn({ lines, from, indent }: Fence): Shown {
  return { text: lines.join('\n'), from, to: from + lines.length, indent };
}

/** Lines that end in a backslash go on in the next one. */
function commandsIn(lines: readonly string[]): string[] {
  const joined = lines.join('\n').replaceAll('\\\n', '\\\0').split('\n');
  return joined
    .map((line) => line.replaceAll('\0', '\n').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

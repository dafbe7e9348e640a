// Text on a terminal: colours, escaped texts, aligned columns, and progress lines.
import { type ColorWhen, type CommandIo, UsageError } from './command.ts';

// Colours of messages and headings on a terminal.

const WHEN: readonly ColorWhen[] = ['auto', 'always', 'never'];

const CODES = { error: 31, note: 33, heading: 1 } as const;

/** Returns the text with the escape sequences of its role, or unchanged if the stream shows no colours. */
export function painted(io: CommandIo, stream: 'stdout' | 'stderr', role: keyof typeof CODES, text: string): string {
  return hasColors(io, stream) ? `\u001b[${CODES[role]}m${text}\u001b[0m` : text;
}

function hasColors({ color = 'auto', env, ...streams }: CommandIo, stream: 'stdout' | 'stderr'): boolean {
  if (color !== 'auto') return color === 'always';
  const isTerminal = (streams[stream] as { readonly isTTY?: boolean }).isTTY === true;
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/**
 * Removes --color, which every command accepts, from the arguments.
 *
 * @throws UsageError if its value is not a ColorWhen
 */
export function withoutColor(args: readonly string[]): { readonly args: readonly string[]; readonly color: ColorWhen } {
  const end = args.indexOf('--');
  const isFlag = (argument: string, index: number): boolean =>
    (end < 0 || index < end) && (argument === '--color' || argument.startsWith('--color='));
  const at = args.findIndex(isFlag);
  if (at < 0) return { args, color: 'auto' };
  const isSeparate = args[at] === '--color';
  const value = isSeparate ? args[at + 1] : args[at]!.slice('--color='.length);
  const color = WHEN.find((when) => when === value);
  if (color === undefined) throw new UsageError(`--color takes ${WHEN.join(', ')}.`);
  const rest = withoutColor([...args.slice(0, at), ...args.slice(at + (isSeparate ? 2 : 1))]);
  return rest.color === 'auto' ? { ...rest, color } : rest;
}

// Escapes text of a service or of a file name before it is printed. Control characters could move the cursor, change
// colours or send input to the terminal.

/** Control characters, and characters that change the text direction or break the line. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** The text with each such character replaced by an escape such as \u001b. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// Text with aligned columns for a terminal: the widths of texts, and the output of `run --to table`.

/** Wider cells are cut, so that one long text does not push the other columns off the screen. In terminal columns. */
const CELL_WIDTH_MAX = 60;

const SEPARATOR = '  ';

const PLAIN = /^[\x20-\x7e]*$/;

/** Characters that take two columns of a terminal. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;

/** Characters that take no column: combining marks and format characters. */
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** Digits with signs, marks and a percent sign, as numbers have them in any notation. */
const NUMBER = /^[-+]?\d[\d.,']*%?$/;

/** Number of columns that a text takes on a terminal. */
function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function padded(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return side === 'left' ? text + space : space + text;
}

/**
 * Lines of a table with a heading. Columns of numbers are aligned on the right.
 *
 * @param open opens the text of a CSV, which is read twice: first for the widths of the columns
 */
export async function* alignedLines(open: () => AsyncIterable<string>, delimiter: string): AsyncGenerator<string> {
  const columns: { width: number; numbers: number; texts: number }[] = [];
  let isHeading = true;
  for await (const cells of records(open(), delimiter)) {
    for (const [index, cell] of cells.entries()) {
      columns[index] ??= { width: 0, numbers: 0, texts: 0 };
      const column = columns[index]!;
      column.width = Math.max(column.width, displayWidth(shown(cell)));
      if (isHeading || cell === '') continue;
      if (NUMBER.test(cell)) column.numbers++;
      else column.texts++;
    }
    isHeading = false;
  }
  for await (const cells of records(open(), delimiter)) {
    const line = cells.map((cell, index) => {
      const { width, numbers, texts } = columns[index]!;
      return padded(shown(cell), width, numbers > 0 && texts === 0 ? 'right' : 'left');
    });
    yield `${line.join(SEPARATOR).trimEnd()}\n`;
  }
}

/** Lines of a table in Markdown, as GitHub reads it. Whole cells are shown. */
export async function* markdownLines(open: () => AsyncIterable<string>, delimiter: string): AsyncGenerator<string> {
  let isHeading = true;
  for await (const cells of records(open(), delimiter)) {
    yield markdownLine(cells.map((cell) => printable(cell.replace(/\r\n|[\n\r\t]/g, ' ')).replace(/[\\|]/g, '\\$&')));
    if (isHeading) yield markdownLine(cells.map(() => '---'));
    isHeading = false;
  }
}

function markdownLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

function characterWidth(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** The cell on one line, cut to CELL_WIDTH_MAX. */
function shown(cell: string): string {
  const text = printable(cell.replace(/\r\n|\n|\r/g, ' ').replace(/\t/g, ' '));
  if (displayWidth(text) <= CELL_WIDTH_MAX) return text;
  let width = 0;
  let start = '';
  for (const character of text) {
    width += characterWidth(character);
    if (width >= CELL_WIDTH_MAX) break;
    start += character;
  }
  return `${start}…`;
}

/** Records of a CSV that this program has written: quotes are doubled, and lines end in a line feed. */
async function* records(chunks: AsyncIterable<string>, delimiter: string): AsyncGenerator<readonly string[]> {
  let rest = '';
  /** Lines of a record that are followed by a line break within quotes. */
  let lines: string[] = [];
  let isQuoted = false;
  for await (const chunk of chunks) {
    const complete = (rest + chunk).split('\n');
    rest = complete.pop()!;
    for (const line of complete) {
      lines.push(line);
      if (countOf(line, '"') % 2 === 1) isQuoted = !isQuoted;
      if (isQuoted) continue;
      yield fields(lines.join('\n'), delimiter);
      lines = [];
    }
  }
}

function fields(record: string, delimiter: string): readonly string[] {
  if (!record.includes('"')) return record.split(delimiter);
  const found: string[] = [];
  let open: string | null = null;
  for (const part of record.split(delimiter)) {
    const field: string = open === null ? part : open + delimiter + part;
    const isComplete = countOf(field, '"') % 2 === 0;
    open = isComplete ? null : field;
    if (isComplete) found.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
  }
  return found;
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count++;
  return count;
}

// Prints columns of text on a terminal.

/** Columns are as wide as their widest cell and separated by two spaces. */
export function printTable(io: CommandIo, headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => displayWidth(line[column] ?? ''))));
  for (const line of lines) {
    const cells = line.map((cell, column) => padded(cell, widths[column] ?? 0));
    io.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
}

// A progress line on a terminal, which overwrites itself. Prints nothing if standard error is not a terminal, unless
// lines are requested.

/** Frequent enough to show movement, rare enough to cost nothing. */
const PERIOD_MILLISECONDS = 500;

/** Returns to the first column and clears the line. */
const CLEAR_LINE = '\r\u001b[K';

/** Periods per line if standard error is a file or a pipe, where lines are not overwritten. */
const PERIODS_OF_LINES = 4;

/** When a Progress prints, given the switches of a command with QUIET_FLAG. */
export function progressShown(switches: ReadonlySet<string>): 'auto' | 'never' {
  return switches.has('quiet') ? 'never' : 'auto';
}

export class Progress {
  readonly #stream: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly #isTerminal: boolean;
  readonly #timer: NodeJS.Timeout | null;
  readonly #start = performance.now();
  #shown = false;

  /**
   * @param describe the line, given the seconds since the start
   * @param shows `always`: also print if standard error is not a terminal, as lines that stay; `never`: print nothing
   */
  constructor(
    stream: NodeJS.WritableStream,
    describe: (seconds: number) => string,
    shows: 'auto' | 'always' | 'never' = 'auto',
  ) {
    this.#stream = stream;
    this.#isTerminal = this.#stream.isTTY === true;
    const period = this.#isTerminal ? PERIOD_MILLISECONDS : PERIOD_MILLISECONDS * PERIODS_OF_LINES;
    const isShown = shows === 'always' || (shows === 'auto' && this.#isTerminal);
    this.#timer = isShown ? setInterval(() => this.#show(describe), period) : null;
    this.#timer?.unref();
  }

  /** True if lines are printed, which needs a thread that is not busy. */
  get isShown(): boolean {
    return this.#timer !== null;
  }

  /** Removes the line before other output is written. The next tick prints it again. */
  clear(): void {
    if (this.#shown) this.#stream.write(CLEAR_LINE);
    this.#shown = false;
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.clear();
  }

  #show(describe: (seconds: number) => string): void {
    const line = describe(Math.round((performance.now() - this.#start) / 1000));
    this.#stream.write(this.#isTerminal ? CLEAR_LINE + line : `${line}\n`);
    this.#shown = this.#isTerminal;
  }
}

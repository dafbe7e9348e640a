// Which names of columns are in doubt behind an operation in trouble: what later operations are told of their types or
// absence only follows from it, and would hide the cause.
import { isMapping } from '../template/mapping.ts';
import { pointerSegments } from '../template/pointer.ts';

/** A problem inside a step: pointer, code, message. */
export type StepProblem = readonly [pointer: string, code: string, message: string];

/** Codes of problems that may follow from another one. */
const FOLLOWING: ReadonlySet<string> = new Set(['EXPR_TYPE', 'WRONG_TYPE', 'UNKNOWN_COLUMN']);

/** The column that a message names first. */
const QUOTED = /"(?:[^"\\]|\\.)*"/;

export class DoubtfulNames {
  readonly #names = new Set<string>();

  /** An operation that cannot be read: all that it names may be what it makes. */
  addBroken(written: unknown): void {
    const parts = partsOf(written);
    const [only, ...others] = parts;
    // {name: {...parameters}}
    const parameters = others.length === 0 && isMapping(only) ? partsOf(only) : parts;
    for (const name of parameters.flatMap(wholeNames)) this.#names.add(name);
  }

  /**
   * The problems of a step that have their own cause.
   * @param step the parameters, and `where`
   */
  causes(step: Readonly<Record<string, unknown>>, problems: readonly StepProblem[]): readonly StepProblem[] {
    if (problems.length === 0) return problems;
    // Thousands of columns may have problems in one place.
    const named = new Map<string, boolean>();
    const own = problems.filter(([pointer, code]) => {
      if (!FOLLOWING.has(code)) return true;
      if (!named.has(pointer)) named.set(pointer, this.#isNamed(valueAt(step, pointer), pointer));
      return !named.get(pointer);
    });
    // A name that nobody made is wrong wherever it stands, and reported again there.
    const unknown = new Set(
      own.filter(([, code]) => code === 'UNKNOWN_COLUMN').map(([, , message]) => QUOTED.exec(message)?.[0]),
    );
    for (const name of partsOf(step).flatMap(wholeNames)) {
      if (!unknown.has(JSON.stringify(name))) this.#names.add(name);
    }
    return own;
  }

  #isNamed(value: unknown, pointer: string): boolean {
    if (this.#names.size === 0) return false;
    // In a mapping of columns the key is one; a parameter's own name is none.
    const texts = [...wholeNames(value), ...pointerSegments(pointer).slice(1)];
    return texts.some((text) => this.#names.has(text) || wordsOf(text).some((word) => this.#names.has(word)));
  }
}

/** The names that an expression may read: its words, and what stands in backticks or row["..."], not its texts. */
function wordsOf(expression: string): string[] {
  const named = expression.replace(/\brow\[("|')(.*?)\1\]/g, '`$2`').replace(/"[^"]*"|'[^']*'/g, ' ');
  return (named.match(/`[^`]*`|[\p{L}_][\p{L}\p{N}_]*/gu) ?? []).map((word) => word.replaceAll('`', ''));
}

function valueAt(step: Readonly<Record<string, unknown>>, pointer: string): unknown {
  let value: unknown = step;
  for (const segment of pointerSegments(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[segment];
  }
  return value;
}

const partsOf = (value: unknown): unknown[] => (isMapping(value) ? Object.values(value) : []);

/** Keys of mappings whose keys are no columns, such as those of a metric. */
const FORM_KEYS = ['fn', 'column', 'check'];

/** Texts and keys of a value, and the names that metrics without `as` make. Templates are bounded in depth and size. */
function wholeNames(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(wholeNames);
  if (!isMapping(value)) return [];
  const { fn, column } = value;
  const made = typeof fn === 'string' && typeof column === 'string' ? [`${fn}_${column}`] : [];
  const keys = FORM_KEYS.some((key) => key in value) ? [] : Object.keys(value);
  return [...made, ...keys, ...partsOf(value).flatMap(wholeNames)];
}

// Finds values above or below a table (input.preamble, input.footer) in the records that are passed to it.
import {
  canSearch,
  compileRegularExpression,
  type RegularExpression,
} from '../expression/patterns/regular-expression.ts';
import type { Failure } from '../protocol/failure.ts';
import { META_RECORDS_MAX } from '../template/section-schemas.ts';
import type { MetaValue, TemplateInput } from '../template/template.ts';
import type { MetaValues } from './reader.ts';

/**
 * Longest value in UTF-16 code units. Values are accounts, dates or sums, so a longer text is not a value. Bounds the
 * memory that a file can make a Run hold.
 */
export const META_CHARACTERS_MAX = 4096;

/**
 * Number of code units searched in each record: enough for a line of text, but not for a whole file without line
 * breaks.
 */
const SEARCHED_CHARACTERS_MAX = 65_536;

interface Wanted extends MetaValue {
  readonly expression: RegularExpression | null;
}

export class MetaSearch {
  readonly #wanted: readonly Wanted[];
  readonly #nullValues: ReadonlySet<string>;
  readonly #found = new Map<string, string>();
  /** Last record that can contain a value. Later records are not examined. */
  readonly #last: number;

  /** @param wanted values of a checked Template */
  constructor(wanted: readonly MetaValue[], nullValues: readonly string[]) {
    this.#wanted = wanted.map((value) => ({ ...value, expression: compiled(value.pattern) }));
    this.#nullValues = new Set(nullValues);
    this.#last = wanted.length === 0 ? -1 : Math.max(...wanted.map(({ record }) => record ?? META_RECORDS_MAX - 1));
  }

  /** True if the record at this 0-based position must be passed to `take`. */
  wants(record: number): boolean {
    return record <= this.#last;
  }

  /**
   * Looks for values in a record.
   * @param texts cleaned field texts
   * @param delimiter joins the fields for patterns that match a whole record
   */
  take(record: number, texts: readonly string[], delimiter: string): void {
    for (const value of this.#wanted) {
      if (this.#found.has(value.name) || (value.record !== null && value.record !== record)) continue;
      const text = value.field === null ? texts.join(delimiter) : (texts[value.field - 1] ?? '');
      this.#put(value.name, value.expression === null ? text : matchOf(value.expression, text));
    }
  }

  /**
   * Looks for values in comment lines.
   * @param lines comments above the first record. They are not records, so only patterns without a record and field
   * match them.
   */
  takeComments(lines: readonly string[]): void {
    for (const value of this.#wanted) {
      if (value.expression === null || value.record !== null || value.field !== null) continue;
      for (const line of lines) {
        if (this.#found.has(value.name)) break;
        this.#put(value.name, matchOf(value.expression, line));
      }
    }
  }

  #put(name: string, found: string | null): void {
    if (found === null || found.length > META_CHARACTERS_MAX || this.#nullValues.has(found)) return;
    this.#found.set(name, found);
  }

  /** Values by name; null if not found. */
  get values(): MetaValues {
    return Object.fromEntries(this.#wanted.map(({ name }) => [name, this.#found.get(name) ?? null]));
  }
}

function compiled(pattern: string | null): RegularExpression | null {
  if (pattern === null) return null;
  const expression = compileRegularExpression(pattern);
  if ('problem' in expression) throw new Error('a pattern of the Template was not checked');
  return expression;
}

function matchOf(expression: RegularExpression, text: string): string | null {
  const searched = text.slice(0, SEARCHED_CHARACTERS_MAX);
  const match = canSearch(expression, searched) ? expression.first(searched) : null;
  if (match === null) return null;
  return (expression.groupCount > 0 ? match.groups[1] : match.groups[0]) ?? null;
}

/** Returns a failure if a required value above or below the table is missing; null otherwise. */
export function missingMetaFailure({ preamble, footer }: TemplateInput, meta: MetaValues = {}): Failure | null {
  if (preamble.length === 0 && footer.length === 0) return null;
  for (const [section, values] of Object.entries({ preamble, footer })) {
    for (const { name, required } of values) {
      if (!required || (meta[name] ?? null) !== null) continue;
      return { code: 'TEMPLATE_CHECK_FAILED', message: `The file has no value for input.${section}.${name}.` };
    }
  }
  return null;
}

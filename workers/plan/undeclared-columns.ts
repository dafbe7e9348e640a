// Columns that operations read of the file and that `input.columns` does not declare: right where a file has a header of
// that very name, and what becomes of a misspelt name, of an unquoted text, or of a header's name in place of the column's.
import { nearestName } from '../template/suggestion.ts';
import type { FileColumn, Template } from '../template/template.ts';
import { headerKey } from './headers.ts';

/** Columns whose names are compared with all declared ones, and whose places are looked for: sixty thousand that a file lacks took fifteen seconds. */
export const HINTED_COLUMNS_MAX = 50;

type Declaring = Pick<Template, 'fileColumns' | 'input'>;

/** What was probably meant by a name that is not declared: a sentence with a space before it, or nothing. */
export function declaredHint(name: string, { fileColumns, input }: Declaring): string {
  const declared = fileColumns.filter((column) => column.declared);
  const key = headerKey(name, input.headerMatch);
  const named = (text: unknown): boolean => typeof text === 'string' && headerKey(text, input.headerMatch) === key;
  const owner = declared.find(({ match }) => match.some(named));
  if (owner !== undefined) {
    return ` The Template calls the column of that header ${JSON.stringify(owner.name)}.`;
  }
  const nearest = nearestName(
    name,
    declared.map((column) => column.name),
  );
  return nearest === null ? formHint(name) : ` Did you mean ${JSON.stringify(nearest)}?`;
}

/** Names that are hardly one: what they are in other languages. */
function formHint(name: string): string {
  if (/^(?:none|null|nil|undefined|nan)$/i.test(name)) return ' An empty cell is null.';
  if (/^(?:true|false)$/i.test(name)) return ` Write ${name.toLowerCase()}.`;
  const order = /^(.+) (?:asc|desc)$/i.exec(name)?.[1] ?? /^-(.+)$/.exec(name)?.[1];
  if (order !== undefined) return ` To sort by it write {column: ${JSON.stringify(order)}, order: desc}.`;
  if (/[^,]+,[^,]+/.test(name)) return ' Several columns are a list, as in [a, b].';
  return name.includes('*') ? ` Write {pattern: '^...'} for all columns whose names are alike.` : '';
}

export interface UndeclaredNote {
  /** Of the column. */
  readonly name: string;
  readonly message: string;
}

/**
 * One sentence for each column that is read and not declared.
 * @param always also where the Template declares no columns at all; else there is none then
 */
export function undeclaredNotes(template: Declaring, always = false): UndeclaredNote[] {
  const { fileColumns } = template;
  if (!always && !fileColumns.some(({ declared }) => declared)) return [];
  const read = fileColumns.filter(({ declared, ifMissing }) => !declared && ifMissing === 'fail');
  return read.map(({ name }: FileColumn, index) => {
    const quoted = JSON.stringify(name);
    const message =
      `The file must have a column ${quoted}: an operation reads it and input.columns does not declare it.` +
      `${index < HINTED_COLUMNS_MAX ? declaredHint(name, template) : ''} A text in an expression stands in quotes.`;
    return { name, message };
  });
}

// Column names in messages. Headers of a file are shown only to the owner of the file (Failure.localMessage). Other
// messages contain names from the Template, or positions.

/**
 * Maximum number of columns that a message lists, and the maximum length of a name that is shown in full, in UTF-16
 * units.
 */
const COLUMNS_MAX = 20;
const NAME_LENGTH_MAX = 60;

/** A sentence such as `The columns there: "id", "name" and 3 more.` */
export function columnsShown(columns: readonly { readonly name: string }[], what: string): string {
  const shown = columns.slice(0, COLUMNS_MAX).map(({ name }) => nameShown(name));
  const more = columns.length - shown.length;
  return `${what}: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** The name in quotes, without characters that control a terminal. */
export function nameShown(name: string): string {
  const cut = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}...` : name;
  return JSON.stringify(cut).replace(/[\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '');
}

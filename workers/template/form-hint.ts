// What to write for a value that has another form than its schema: the same value in the right one.

export type Schema = Readonly<Record<string, unknown>>;

/** A longer text is not shown again in the form that it should have, in UTF-16 units: the message must stay a line. */
export const FORM_CHARACTERS_MAX = 40;

/** A text where a list of texts or a mapping around it is wanted. */
export function formHint(parent: Schema, data: unknown): string {
  if (parent['type'] === 'array') {
    const first = ((parent['items'] as Schema | undefined)?.['required'] as readonly string[] | undefined)?.[0];
    const isMapping = typeof data === 'object' && data !== null;
    if (isMapping && first !== undefined) return ` Its entries are mappings, as in [{${first}: ...}].`;
  }
  if (parent['type'] === 'object' && parent['properties'] === undefined && isShortTexts(data)) {
    return ` Write {${data.map((name) => `${JSON.stringify(name)}: ...`).join(', ')}}.`;
  }
  if (typeof data !== 'string' || data.length > FORM_CHARACTERS_MAX) return '';
  if (parent['type'] === 'array') return ` Put it in brackets: [${JSON.stringify(data)}].`;
  const required = parent['required'] as readonly string[] | undefined;
  return parent['type'] === 'object' && required?.length === 1
    ? ` Write {${required[0]}: ${JSON.stringify(data)}}.`
    : '';
}

/** A text in place of a mapping that holds it, where one of the forms does. */
export function textForm(branches: readonly Schema[], data: unknown): string {
  if (typeof data !== 'string' || data.length > FORM_CHARACTERS_MAX) return '';
  for (const { properties } of branches) {
    const [[key, value] = [], ...others] = Object.entries((properties ?? {}) as Readonly<Record<string, Schema>>);
    if (value?.['type'] === 'string' && others.length === 0) return ` Write {${key}: ${JSON.stringify(data)}}.`;
  }
  return '';
}

/** A number in quotes is a text. */
export function quotesHint(wanted: readonly string[], data: unknown): string {
  const isNumber = wanted.includes('a whole number') || wanted.includes('a number');
  return isNumber && typeof data === 'string' && /^-?\d+(?:\.\d+)?$/.test(data) ? ' Take the quotes away.' : '';
}

/** Names that can be shown again. */
function isShortTexts(data: unknown): data is string[] {
  return (
    Array.isArray(data) && data.every((name) => typeof name === 'string') && data.join().length <= FORM_CHARACTERS_MAX
  );
}

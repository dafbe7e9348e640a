// What a number, text, list or mapping may be at most and at least, where a schema's limit is broken.

/** @param keyword of JSON Schema @param params what the validator tells of it */
export function limitMessage(keyword: string, params: Readonly<Record<string, unknown>>): string {
  const limit = String(params['limit'] ?? params['multipleOf'] ?? '');
  switch (keyword) {
    case 'minimum':
      return `Write a number not below ${limit}.`;
    case 'maximum':
      return `Write a number not above ${limit}.`;
    case 'exclusiveMinimum':
      return `Write a number above ${limit}.`;
    case 'exclusiveMaximum':
      return `Write a number below ${limit}.`;
    case 'minLength':
      return limit === '1' ? 'The text is empty.' : `The text has at least ${limit} characters.`;
    case 'maxLength':
      return limit === '1' ? 'Write one character.' : `The text has at most ${limit} characters.`;
    case 'minItems':
      return limit === '1' ? 'The list is empty.' : `The list has at least ${limit} entries.`;
    case 'maxItems':
    case 'items':
      return `The list has at most ${limit} entries.`;
    case 'minProperties':
      return limit === '1' ? 'The mapping is empty.' : `The mapping has at least ${limit} keys.`;
    case 'maxProperties':
      return `The mapping has at most ${limit} keys.`;
    case 'uniqueItems':
      return 'The list names something twice.';
    default:
      return `The value does not fit (${keyword}).`;
  }
}

// Failures caused by the text of a JSON file: the place and what was expected there.
import {
  CELL_TOO_LONG,
  DEPTH_MAX,
  EXPECTED_COLON,
  EXPECTED_COMMA_OR_BRACE,
  EXPECTED_COMMA_OR_BRACKET,
  EXPECTED_DIGIT,
  EXPECTED_ESCAPE,
  EXPECTED_KEY,
  EXPECTED_KEY_OR_BRACE,
  EXPECTED_LIST,
  EXPECTED_OBJECT,
  EXPECTED_QUOTE,
  EXPECTED_VALUE,
  KEY_BYTES_MAX,
  KEY_SURROGATE,
  KEY_TOO_LONG,
  TOO_DEEP,
  TOO_MANY_MEMBERS,
} from '../../kernel/layout/json.ts';
import { Failed } from '../../protocol/failure.ts';
import { CELL_BYTES_MAX, COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';

// A member of a JSON object that is a list and may hold the records.

/** Kind of the records, as shown by the first item of a list. */
export type ListKind = 'objects' | 'lists' | 'empty' | 'nested';

/** A list inside the object that may contain the records. */
export interface ListMember {
  /** Index among the members of the object, from 0. */
  readonly place: number;
  readonly key: string;
  kind: ListKind;
  /** True if the first record has a name that the Template looks for. */
  isNamed: boolean;
}

// Failures caused by the text of a JSON file: the place and what was expected there. Messages contain nothing of the
// text.

const KIB = 1024;
const MIB = KIB * KIB;

/** Separates the bytes before and after the place of an error. */
const HERE = '\0';

/** Invalid forms that programs write, with advice. */
const HINTS: readonly { readonly form: RegExp; readonly hint: string }[] = [
  {
    form: /-?\0-?(?:NaN|Infinity)/,
    hint: 'NaN and Infinity are not JSON. Write null instead, or read them as null (input.json.nan: blank).',
  },
  { form: /\0(?:None|True|False)\b/, hint: 'This is Python, not JSON. Write the file with json.dump.' },
  { form: /\0undefined\b/, hint: 'This is JavaScript, not JSON. Write the file with JSON.stringify.' },
  { form: /\0'/, hint: 'JSON has double quotes around texts and keys.' },
  { form: /\0\/[/*]/, hint: 'JSON has no comments. Remove them.' },
  { form: /,\s*\0[\]}]/, hint: 'JSON has no comma after the last value of a list or object. Remove it.' },
];

/** A place in a text. Line and column count from 1; the column counts UTF-8 bytes. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

const LONE_SURROGATE =
  'contains half of a surrogate pair (an escape from \\ud800 to \\udfff without its other half), which is not a character';

const EXPECTATIONS: Readonly<Record<number, string>> = {
  [EXPECTED_VALUE]: 'a value is expected',
  [EXPECTED_KEY]: 'a key in double quotes is expected',
  [EXPECTED_KEY_OR_BRACE]: 'a key in double quotes or "}" is expected',
  [EXPECTED_COLON]: '":" is expected',
  [EXPECTED_COMMA_OR_BRACE]: '"," or "}" is expected',
  [EXPECTED_COMMA_OR_BRACKET]: '"," or "]" is expected',
  [EXPECTED_QUOTE]: 'a string contains a control character that is not escaped, or its closing quote is missing',
  [EXPECTED_ESCAPE]: 'a backslash is not the start of a JSON escape',
  [EXPECTED_DIGIT]: 'a digit is expected',
  [EXPECTED_OBJECT]: 'an object is expected, as all records are objects',
  [EXPECTED_LIST]: 'a list is expected, as all records are lists',
  [TOO_DEEP]: `a value is nested more than ${DEPTH_MAX} deep`,
  [CELL_TOO_LONG]: `a value of more than ${CELL_BYTES_MAX / MIB} MiB begins`,
  [KEY_TOO_LONG]: `a key of more than ${KEY_BYTES_MAX / KIB} KiB begins`,
  [KEY_SURROGATE]: `a key ${LONE_SURROGATE}`,
  [TOO_MANY_MEMBERS]: `a record has more than ${COLUMNS_MAX} members`,
};

/**
 * @param before last bytes before the place
 * @param found first bytes at the place
 */
export function expectedAt(place: TextPlace, expected: number, before: Uint8Array, found: Uint8Array): Failed {
  const text = [before, found].map((bytes) => Buffer.from(bytes).toString('latin1')).join(HERE);
  const hint = HINTS.find(({ form }) => form.test(text))?.hint;
  return malformedAt(place, `${EXPECTATIONS[expected]!}.${hint === undefined ? '' : ` ${hint}`}`);
}

export function endsEarly(place: TextPlace): Failed {
  return malformedAt(place, 'the file ends in the middle of its JSON.');
}

/** @param row number of the data row, from 1 */
export function otherLength(row: number): Failed {
  return new Failed('MALFORMED_FILE', `The list of row ${row} has a different number of values than the header.`);
}

export function notUtf8(place: TextPlace): Failed {
  return malformedAt(place, 'this is not valid UTF-8, as JSON has to be.');
}

/** What a file holds before a value that must not follow. */
export type ValueBefore = 'lists of lists' | 'records inside an object' | 'other';

const ADVICE_ON_NEXT_VALUE: Readonly<Record<ValueBefore, string>> = {
  'lists of lists': 'Lists of lists are not joined, because each may have its own header. Send one list.',
  'records inside an object':
    'If the list of records is inside an object, the file holds one such object. Write one record per line, for example ' +
    "with jq -c '.KEY[]', and leave out input.json.records.",
  other: 'Send one list of all records, or records one after the other.',
};

export function anotherValue(place: TextPlace, before: ValueBefore): Failed {
  const advice = ADVICE_ON_NEXT_VALUE[before];
  return malformedAt(place, `the end of the file is expected after its JSON, and another value begins. ${advice}`);
}

export function listOfValues(place: TextPlace): Failed {
  return malformedAt(
    place,
    'an object or a list is expected: the file is a list of plain values, which are not records.',
  );
}

export function recordTooLong(place: TextPlace): Failed {
  return malformedAt(place, `a record of more than ${ROW_BYTES_MAX / MIB} MiB begins.`);
}

export function tooManyKeys(place: TextPlace): Failed {
  return malformedAt(place, `the records have more than ${COLUMNS_MAX} different keys, or very long ones.`);
}

export function noRecordsAt(): Failed {
  return malformed('The JSON of the file has no list of records at input.json.records.');
}

/** @param end end of the list that is the header */
export function loneSurrogateInHeader(end: TextPlace): Failed {
  return malformedAt(end, `the header before this place ${LONE_SURROGATE}.`);
}

export function noHeaderRow(): Failed {
  return malformed('The header row (header_row) is after the last list of the file.');
}

const LIST_KINDS: Readonly<Record<ListMember['kind'], string>> = {
  objects: 'list of objects',
  lists: 'list of lists',
  empty: 'empty list',
  nested: 'list inside this object',
};

/**
 * @param lists the first of the lists
 * @param count number of all lists
 */
export function ambiguousLists(lists: readonly ListMember[], count: number): Failed {
  const listed = (name: (list: ListMember) => string): string => {
    const names = lists.map((list) => `${name(list)} (${LIST_KINDS[list.kind]})`).join(', ');
    const more = count - lists.length;
    const what = count === 1 ? 'a list that may hold the records' : 'several lists that may hold the records';
    return (
      `The file is an object with ${what}: ${names}${more > 0 ? ` and ${more} more` : ''}. ` +
      'Name the list in the Template as a JSON pointer (input.json.records: /KEY), or write records: "" to take the object ' +
      'as one record.'
    );
  };
  return new Failed(
    'MALFORMED_FILE',
    listed(({ place }) => `member ${place + 1}`),
    { localMessage: listed(({ key }) => JSON.stringify(`/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)) },
  );
}

function malformedAt({ line, column }: TextPlace, what: string): Failed {
  return malformed(`Line ${line}, column ${column}: ${what}`);
}

function malformed(message: string): Failed {
  return new Failed('MALFORMED_FILE', message);
}

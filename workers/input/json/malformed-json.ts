// The failures that the text of a JSON file can cause: the place, and what was expected there. Nothing of the text is named.
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
  KEY_TOO_LONG,
  TOO_DEEP,
  TOO_MANY_MEMBERS,
} from '../../kernel/layout/json.ts';
import { Failed } from '../../protocol/failure.ts';
import { CELL_BYTES_MAX, COLUMNS_MAX, ROW_BYTES_MAX } from '../ceilings.ts';

const KIB = 1024;
const MIB = KIB * KIB;

/** A place in a text: both from 1; the column counts bytes of UTF-8. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

const EXPECTATIONS: Readonly<Record<number, string>> = {
  [EXPECTED_VALUE]: 'a value is expected',
  [EXPECTED_KEY]: 'a key in double quotes is expected',
  [EXPECTED_KEY_OR_BRACE]: 'a key in double quotes or "}" is expected',
  [EXPECTED_COLON]: '":" is expected',
  [EXPECTED_COMMA_OR_BRACE]: '"," or "}" is expected',
  [EXPECTED_COMMA_OR_BRACKET]: '"," or "]" is expected',
  [EXPECTED_QUOTE]: 'a string holds a control character that is not escaped, or its closing quote is missing',
  [EXPECTED_ESCAPE]: 'a backslash begins no escape of JSON',
  [EXPECTED_DIGIT]: 'a digit is expected',
  [EXPECTED_OBJECT]: 'an object is expected, as all records are objects',
  [EXPECTED_LIST]: 'a list is expected, as all records are lists',
  [TOO_DEEP]: `a value is nested more than ${DEPTH_MAX} deep`,
  [CELL_TOO_LONG]: `a value of more than ${CELL_BYTES_MAX / MIB} MiB begins`,
  [KEY_TOO_LONG]: `a key of more than ${KEY_BYTES_MAX / KIB} KiB begins`,
  [TOO_MANY_MEMBERS]: `a record has more than ${COLUMNS_MAX} members`,
};

export function expectedAt(place: TextPlace, expected: number): Failed {
  return troubleAt(place, `${EXPECTATIONS[expected]!}.`);
}

export function endsEarly(place: TextPlace): Failed {
  return troubleAt(place, 'the file ends in the middle of its JSON.');
}

export function notUtf8(place: TextPlace): Failed {
  return troubleAt(place, 'this is not valid UTF-8, as JSON has to be.');
}

export function goesOn(place: TextPlace): Failed {
  return troubleAt(place, 'the end of the file is expected behind its JSON.');
}

export function recordTooLong(place: TextPlace): Failed {
  return troubleAt(place, `a record of more than ${ROW_BYTES_MAX / MIB} MiB begins.`);
}

export function tooManyKeys(place: TextPlace): Failed {
  return troubleAt(place, `the records have more than ${COLUMNS_MAX} different keys, or very long ones.`);
}

export function noRecordsAt(): Failed {
  return malformed('The JSON of the file has no list of records at input.json.records.');
}

export function severalLists(members: readonly number[]): Failed {
  const places = `${members.slice(0, -1).join(', ')} and ${members.at(-1)}`;
  return malformed(
    `The file is an object with several lists of objects: its members ${places}. ` +
      'Name the one that holds the records in the Template (input.json.records).',
  );
}

function troubleAt({ line, column }: TextPlace, what: string): Failed {
  return malformed(`Line ${line}, column ${column}: ${what}`);
}

function malformed(message: string): Failed {
  return new Failed('MALFORMED_FILE', message);
}

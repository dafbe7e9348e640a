// Checks the parameters of create_run. Knows neither forms nor files.

/** One printable character that is not a quote. */
export const DELIMITER = /^(?:[^\p{C}\p{Z}"\uFFFD]| )$/u;

const HEADER_ROW = /^[0-9]{1,10}$/;

/** A parameter as sent: undefined if absent, null if sent twice or too long. */
export type SentParameter = string | null | undefined;

export interface SentParameters {
  delimiter: SentParameter;
  header_row: SentParameter;
}

export interface CheckedParameters {
  readonly delimiter: string | null;
  readonly headerRow: number | null;
  /** Reason for refusing them, in which case the values are null. */
  readonly problem: string | null;
  /** Canonical text, which is equal for equal parameters, including absent ones. */
  readonly canonical: string;
}

/** Result for most requests. */
const NOTHING_SENT: CheckedParameters = { delimiter: null, headerRow: null, problem: null, canonical: '[0,-1]' };

/** @param rowsMax maximum number of rows in the plan, or null for no limit */
export function checkParameters({ delimiter, header_row }: SentParameters, rowsMax: number | null): CheckedParameters {
  if (delimiter === undefined && header_row === undefined) return NOTHING_SENT;
  const problem = delimiterProblem(delimiter) ?? headerRowProblem(header_row, rowsMax);
  const headerRow = typeof header_row === 'string' && HEADER_ROW.test(header_row) ? Number(header_row) : header_row;
  const canonical = JSON.stringify([delimiter === undefined ? 0 : delimiter, headerRow === undefined ? -1 : headerRow]);
  if (problem !== null) return { delimiter: null, headerRow: null, problem, canonical };
  return { delimiter: delimiter ?? null, headerRow: (headerRow as number | undefined) ?? null, problem, canonical };
}

function delimiterProblem(delimiter: SentParameter): string | null {
  if (delimiter === undefined || (delimiter !== null && DELIMITER.test(delimiter))) return null;
  return 'delimiter must be sent once and be exactly one printable character other than a double quote.';
}

function headerRowProblem(headerRow: SentParameter, rowsMax: number | null): string | null {
  if (headerRow === undefined) return null;
  if (headerRow === null || !HEADER_ROW.test(headerRow)) {
    return 'header_row must be sent once and be a whole number from 0 on.';
  }
  if (rowsMax !== null && Number(headerRow) >= rowsMax)
    return `header_row must be below the row ceiling of ${rowsMax}.`;
  return null;
}

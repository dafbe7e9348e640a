// What create_run's parameters may say. It knows no form and no file.

/** One printable character that is not a quote. */
export const DELIMITER = /^(?:[^\p{C}\p{Z}"\uFFFD]| )$/u;

const HEADER_ROW = /^[0-9]{1,10}$/;

/** A parameter as it was sent: undefined = absent, null = sent twice or longer than a parameter may be. */
export type SentParameter = string | null | undefined;

export interface SentParameters {
  delimiter: SentParameter;
  header_row: SentParameter;
}

export interface CheckedParameters {
  readonly delimiter: string | null;
  readonly headerRow: number | null;
  /** Why they are refused; then the values are null. */
  readonly problem: string | null;
  /** The same text for the same parameters, absence included. */
  readonly canonical: string;
}

/** What most requests send. */
const NOTHING_SENT: CheckedParameters = { delimiter: null, headerRow: null, problem: null, canonical: '[0,-1]' };

/** @param rowsMax the plan's row ceiling, null = none */
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

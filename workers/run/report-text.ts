// Writes a report as JSON: letter by letter what JSON.stringify makes of it, which takes twice as long for so many short
// fields. Every small Run has a report.
import type { OperationReport, RunReport } from './report.ts';

/** The report as JSON. */
export function reportText(report: RunReport): string {
  const { template_sha256, rows_read, rows_written, input, output, tables, rejects } = report;
  const { type, encoding, delimiter, header_row, errors, quotes_after_space, header_lines } = input;
  const { places, comment_lines } = input;
  const spaced = quotes_after_space === true ? ',"quotes_after_space":true' : '';
  const lines = header_lines === undefined ? '' : `,"header_lines":${header_lines}`;
  const placed = places === undefined ? '' : `,"places":${JSON.stringify(places)}`;
  const comments = comment_lines === undefined ? '' : `,"comment_lines":${comment_lines}`;
  const lost = output.errors === undefined ? '' : `,"errors":${objectText(output.errors)}`;
  const apart = rejects === undefined ? '' : `,"rejects":${objectText(rejects)}`;
  let operations = '';
  for (const operation of report.operations) operations += (operations === '' ? '' : ',') + operationText(operation);
  return (
    `{"template_sha256":"${template_sha256}","rows_read":${rows_read},"rows_written":${rows_written},` +
    `"input":{"type":"${type}","encoding":"${encoding}","delimiter":${textOrNull(delimiter)},` +
    `"header_row":${header_row},"errors":${objectText(errors)}${spaced}${lines}${placed}${comments}},` +
    `"operations":[${operations}],` +
    `"output":{"formulas_guarded":${output.formulas_guarded}${lost}},"tables":${objectText(tables)}${apart}}`
  );
}

function operationText({ operation, id, rows_in, rows_out, cells_changed, errors }: OperationReport): string {
  return (
    `{"operation":"${operation}","id":${textOrNull(id)},"rows_in":${rows_in},"rows_out":${rows_out},` +
    `"cells_changed":${cells_changed},"errors":${objectText(errors)}}`
  );
}

/** What a Template or a file has written may need escapes; our own names never do. */
function textOrNull(text: string | null): string {
  return text === null ? 'null' : JSON.stringify(text);
}

/** Nearly all are empty. */
function objectText(object: object): string {
  for (const _ in object) return JSON.stringify(object);
  return '{}';
}

// One Run of the tab: how far it is, its report, a preview of its output, and its files.
import type { JSX } from 'preact';
import type { Report, Run } from '../../client/browser/template-run-client.ts';
import { type Console, canPreview, type TabRun } from './console.ts';

const STATES = {
  sending: 'is sent',
  working: 'is worked on',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'was cancelled',
} as const;

export function RunView({ console, tabRun }: { readonly console: Console; readonly tabRun: TabRun }): JSX.Element {
  const { number, fileName, template, state, sentBytes, totalBytes, run, trouble } = tabRun;
  const isUnderWay = state.value === 'sending' || state.value === 'working';
  return (
    <article class={state.value} aria-label={`Run ${number}`}>
      <h3>
        {fileName} <small>by {template}</small>
      </h3>
      <p role="status">
        {number}: {STATES[state.value]}
        {state.value === 'sending' && `, ${sentBytes.value} of ${totalBytes} bytes`}
        {run.value?.rows_written != null && `, ${run.value.rows_written} rows written`}
        {run.value?.truncated === true && ', cut at the ceiling of rows'}
      </p>
      {isUnderWay && (
        <>
          <progress aria-label="Upload" max={Math.max(1, totalBytes)} value={sentBytes.value} />
          <button type="button" onClick={tabRun.cancel}>
            Cancel
          </button>
        </>
      )}
      {trouble.value !== null && <p role="alert">{trouble.value}</p>}
      {run.value !== null && <Files console={console} tabRun={tabRun} run={run.value} />}
      {run.value?.report != null && <ReportView report={run.value.report} />}
    </article>
  );
}

function Files({
  console,
  tabRun,
  run,
}: {
  readonly console: Console;
  readonly tabRun: TabRun;
  readonly run: Run;
}): JSX.Element | null {
  if (run.output == null) return null;
  const { preview } = tabRun;
  return (
    <>
      <button type="button" onClick={() => void console.download(tabRun, 'output')}>
        Download the output ({run.output.size_bytes} bytes)
      </button>
      {run.rejects !== undefined && (
        <button type="button" onClick={() => void console.download(tabRun, 'rejects')}>
          Download the rejected rows ({run.rejects.size_bytes} bytes)
        </button>
      )}
      {canPreview(run) && preview.value === null && (
        <button type="button" onClick={() => void console.preview(tabRun)}>
          Preview
        </button>
      )}
      {preview.value !== null && (
        // Keys scroll it.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by Tab
        <section class="preview" aria-label="Preview of the output" tabIndex={0}>
          <pre>{preview.value}</pre>
        </section>
      )}
    </>
  );
}

function ReportView({ report }: { readonly report: Report }): JSX.Element {
  const { input, operations, rows_read: rowsRead, rows_written: rowsWritten } = report;
  const read = [
    input.type,
    input.encoding,
    input.delimiter === null ? null : `delimiter ${JSON.stringify(input.delimiter)}`,
  ];
  return (
    <details>
      <summary>Report</summary>
      <p>
        {rowsRead} rows read ({read.filter((part) => part !== null).join(', ')}), {rowsWritten} written.{' '}
        {errorsText(input.errors)}
      </p>
      <table>
        <thead>
          <tr>
            {['Operation', 'Rows in', 'Rows out', 'Cells changed', 'Errors: source rows'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {operations.map(({ operation, id, rows_in, rows_out, cells_changed, errors }, index) => (
            <tr key={index}>
              <th scope="row">{id ?? operation}</th>
              <td>{rows_in}</td>
              <td>{rows_out}</td>
              <td>{cells_changed}</td>
              <td>{errorsText(errors)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function errorsText(errors: Report['input']['errors']): string {
  return Object.entries(errors)
    .map(([code, { count, rows }]) => `${code} ${count} times: ${rows.join(', ')}${count > rows.length ? ' …' : ''}`)
    .join('; ');
}

// The view of the console: the key, the form that sends a file, and the Runs of this tab.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Report, Run, Usage } from '../../client/browser/template-run-client.ts';
import { type Console, canPreview, type TabRun } from './console.ts';

// One Run of the tab: its progress, its report, a preview of its output, and its files.

const STATES = {
  sending: 'is being sent',
  working: 'is being processed',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'was cancelled',
} as const;

function RunView({ console, tabRun }: { readonly console: Console; readonly tabRun: TabRun }): JSX.Element {
  const { number, fileName, template, state, sentBytes, totalBytes, run, errorText } = tabRun;
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
        {run.value?.truncated === true && ', truncated at the row limit'}
      </p>
      {isUnderWay && (
        <>
          <progress aria-label="Upload" max={Math.max(1, totalBytes)} value={sentBytes.value} />
          <button type="button" onClick={tabRun.cancel}>
            Cancel
          </button>
        </>
      )}
      {errorText.value !== null && <p role="alert">{errorText.value}</p>}
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
        // The element can have the focus, so that keys scroll it.
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
    .map(([code, { count, rows }]) => {
      // Rows added by operations are counted, but have no number.
      const listed = rows.length === 0 ? '' : `: ${rows.join(', ')}${count > rows.length ? ' …' : ''}`;
      return `${code} ${count} times${listed}`;
    })
    .join('; ');
}

// The view of the console: the key, the form that sends a file, and the Runs of this tab.

export function ConsolePage({ console }: { readonly console: Console }): JSX.Element {
  return (
    <>
      <header>
        <h1>template-run console</h1>
        {console.isOpen.value && (
          <button type="button" onClick={() => console.forget()}>
            Forget the key
          </button>
        )}
      </header>
      <main>
        {console.isOpen.value ? (
          <>
            {console.usage.value !== null && <UsageLine usage={console.usage.value} />}
            {console.errorText.value !== null && <p role="alert">{console.errorText.value}</p>}
            <SendForm console={console} />
            <Runs console={console} />
          </>
        ) : (
          <KeyForm console={console} />
        )}
      </main>
    </>
  );
}

function KeyForm({ console }: { readonly console: Console }): JSX.Element {
  const [key, setKey] = useState('');
  return (
    <form
      aria-label="API key"
      onSubmit={(event) => {
        event.preventDefault();
        setKey('');
        void console.open(key.trim());
      }}
    >
      <label>
        API key
        <input
          type="password"
          autocomplete="off"
          required
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <p>The key is stored only in the memory of this page, until you close the page or select "Forget the key".</p>
      <button type="submit">Open</button>
      {console.errorText.value !== null && <p role="alert">{console.errorText.value}</p>}
    </form>
  );
}

function UsageLine({ usage }: { readonly usage: Usage }): JSX.Element {
  const limit = usage.limit === null ? '' : ` of ${usage.limit}`;
  return (
    <p class="usage">
      {usage.used}
      {limit} Runs used until {usage.resets_at.slice(0, 10)}, {usage.runs_in_flight} in flight.
    </p>
  );
}

function SendForm({ console }: { readonly console: Console }): JSX.Element {
  const templates = console.templates.value;
  const [template, setTemplate] = useState(templates[0]?.id ?? '');
  const [file, setFile] = useState<File | null>(null);
  const [delimiter, setDelimiter] = useState('');
  const [headerRow, setHeaderRow] = useState('');
  if (templates.length === 0) return <p>The account has no Templates.</p>;
  return (
    <form
      aria-label="Send a file"
      onSubmit={(event) => {
        event.preventDefault();
        if (file !== null) void console.send(template, file, { delimiter, headerRow });
      }}
    >
      <h2>Send a file</h2>
      <label>
        Template
        <select value={template} onChange={(event) => setTemplate(event.currentTarget.value)}>
          {templates.map(({ id, name }) => (
            <option key={id} value={id}>
              {name ?? id}
            </option>
          ))}
        </select>
      </label>
      <p>{templates.find(({ id }) => id === template)?.description}</p>
      <label>
        File
        <input type="file" required onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)} />
      </label>
      <label>
        Delimiter (detected if empty)
        <input
          type="text"
          maxLength={1}
          value={delimiter}
          onInput={(event) => setDelimiter(event.currentTarget.value)}
        />
      </label>
      <label>
        Header row, counted from 0 (detected if empty)
        <input
          type="text"
          inputMode="numeric"
          pattern="[0-9]{1,9}"
          value={headerRow}
          onInput={(event) => setHeaderRow(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Send</button>
    </form>
  );
}

function Runs({ console }: { readonly console: Console }): JSX.Element {
  const runs = console.runs.value;
  return (
    <section aria-label="Runs of this tab">
      <h2>Runs of this tab</h2>
      {runs.length === 0 && <p>No Runs yet. This list is lost when the page is closed.</p>}
      {runs.map((run) => (
        <RunView key={run.number} console={console} tabRun={run} />
      ))}
    </section>
  );
}

// The view of the console: the key, the form that sends files, and the Runs of this tab.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Report, Run, Usage } from '../../client/browser/template-run-client.ts';
import type { Console, NeededColumn, RunState, TabRun } from './console.ts';
import { type ErrorText, sizeText } from './error-texts.ts';
import type { PreviewTable } from './parquet-preview.ts';

// One Run of the tab: its progress, its report, a preview of its output, and its files.

const STATES: Readonly<Record<RunState, string>> = {
  waiting: 'waits until the files before it are done',
  sending: 'is being sent',
  working: 'is being processed',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'was cancelled',
  interrupted: 'was lost, because the page was closed before the service had the file. Send it again.',
};

function RunView({ console, tabRun }: { readonly console: Console; readonly tabRun: TabRun }): JSX.Element {
  const { number, fileName, templateName, state, sentBytes, totalBytes, run, error, cancel } = tabRun;
  const isUnderWay = ['waiting', 'sending', 'working'].includes(state.value);
  return (
    <article class={state.value} aria-label={`Run ${number}`}>
      <h3>
        {fileName}{' '}
        <small>
          {sizeText(totalBytes)}, {templateName}
        </small>
      </h3>
      <p role="status">
        {number}: {STATES[state.value]}
        {state.value === 'sending' && `, ${sizeText(sentBytes.value)} of ${sizeText(totalBytes)}`}
        {run.value?.rows_written != null && `, ${rowsText(run.value.rows_written)} written`}
        {run.value?.truncated === true && ', cut off at the limit of rows'}
      </p>
      {state.value === 'sending' && (
        <progress aria-label={`Upload of file ${number}`} max={Math.max(1, totalBytes)} value={sentBytes.value} />
      )}
      {state.value === 'working' && <progress aria-label={`Work on file ${number}`} />}
      {isUnderWay && cancel !== null && (
        <button type="button" aria-label={`Cancel file ${number}`} onClick={cancel}>
          Cancel
        </button>
      )}
      {error.value !== null && <ErrorNote error={error.value} />}
      {run.value !== null && <Files console={console} tabRun={tabRun} run={run.value} />}
      {run.value?.report != null && <ReportView report={run.value.report} />}
    </article>
  );
}

function rowsText(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`;
}

function ErrorNote({ error: { advice, message, support } }: { readonly error: ErrorText }): JSX.Element {
  return (
    <div role="alert">
      {advice !== null && <p>{advice}</p>}
      <p class={advice === null ? '' : 'quiet'}>{message}</p>
      {support !== null && <p class="quiet">If you ask for help, send this too: {support}</p>}
    </div>
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
  const until = run.expires_at == null ? null : new Date(run.expires_at);
  if (!console.isOpen.value) return <p>Enter the key to see and download the output.</p>;
  return (
    <>
      <button type="button" onClick={() => void console.download(tabRun, 'output')}>
        Download the output ({sizeText(run.output.size_bytes)})
      </button>
      {run.rejects !== undefined && (
        <button type="button" onClick={() => void console.download(tabRun, 'rejects')}>
          Download the rejected rows ({sizeText(run.rejects.size_bytes)})
        </button>
      )}
      {preview.value === null && (
        <button type="button" onClick={() => void console.preview(tabRun)}>
          Preview
        </button>
      )}
      {until !== null && <p class="quiet">The service keeps the output until {clockText(until)}.</p>}
      {preview.value !== null && <Preview number={tabRun.number} table={preview.value} />}
    </>
  );
}

/** Date and time where the reader is, as 2026-11-28 09:05. */
function clockText(time: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${date} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

function Preview({
  number,
  table: { header, rows, isCut },
}: {
  readonly number: number;
  readonly table: PreviewTable;
}): JSX.Element {
  return (
    <>
      <Scrolled label={`Preview of the output of file ${number}`}>
        <table>
          <thead>
            <tr>
              {header.map((name, index) => (
                <th key={index} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {header.map((_, column) => (
                  <td key={column}>{row[column]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
      <p class="quiet">
        {isCut ? `The first ${rowsText(rows.length)}. Download the output to see all.` : 'These are all rows.'}
      </p>
    </>
  );
}

/** A part of the page that scrolls by itself. It can have the focus, so that keys scroll it. */
function Scrolled({ label, children }: { readonly label: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by Tab
    <section class="preview" aria-label={label} tabIndex={0}>
      {children}
    </section>
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
        {rowsText(rowsRead)} read ({read.filter((part) => part !== null).join(', ')}), {rowsWritten} written.{' '}
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

// The page: the key, the form that sends files, and the Runs of this tab.

export function ConsolePage({ console }: { readonly console: Console }): JSX.Element {
  const hasDocs = document.documentElement.dataset['docs'] === 'yes';
  return (
    <>
      <header>
        <h1>template-run console</h1>
        <span>
          {hasDocs && <a href="docs">Documentation for programs</a>}{' '}
          {(console.isOpen.value || console.runs.value.length > 0) && (
            <button type="button" onClick={() => console.forget()}>
              Forget the key
            </button>
          )}
        </span>
      </header>
      <main>
        {console.isOpen.value ? (
          <>
            {console.usage.value !== null && <UsageLine usage={console.usage.value} />}
            {console.error.value !== null && <ErrorNote error={console.error.value} />}
            <SendForm console={console} />
          </>
        ) : (
          <KeyForm console={console} />
        )}
        {(console.isOpen.value || console.runs.value.length > 0) && <Runs console={console} />}
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
      <p>This page brings your files into another layout, with rules that were stored here for your account.</p>
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
      <p class="quiet">
        The person who runs this service gave you the key. It is stored only in the memory of this page, until you close
        or reload the page, or select "Forget the key".
      </p>
      <button type="submit">Open</button>
      {console.error.value !== null && <ErrorNote error={console.error.value} />}
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
  const [files, setFiles] = useState<readonly File[]>([]);
  const [delimiter, setDelimiter] = useState('');
  const [headerRow, setHeaderRow] = useState('');
  if (templates.length === 0)
    return <p>The account has no Templates, so no file can be sent. Ask the person who gave you the key.</p>;
  return (
    <form
      aria-label="Send files"
      onSubmit={(event) => {
        event.preventDefault();
        if (files.length === 0) return;
        void console.send(template, files, { delimiter, headerRow });
        setFiles([]);
      }}
    >
      <h2>Send files</h2>
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
      <p class="quiet">A Template is a set of stored rules for files of one kind. Choose the one for your files.</p>
      <p>{templates.find(({ id }) => id === template)?.description}</p>
      <Columns console={console} template={template} />
      <DropZone onFiles={(added) => setFiles([...files, ...added])} />
      <Chosen files={files} onFiles={setFiles} />
      <details>
        <summary>If the file is read wrongly</summary>
        <label>
          Delimiter: the character between two values (detected if empty)
          <input
            type="text"
            maxLength={1}
            value={delimiter}
            onInput={(event) => setDelimiter(event.currentTarget.value)}
          />
        </label>
        <label>
          Header row: the line with the names of the columns, counted from 0 (detected if empty)
          <input
            type="text"
            inputMode="numeric"
            pattern="[0-9]{1,9}"
            value={headerRow}
            onInput={(event) => setHeaderRow(event.currentTarget.value)}
          />
        </label>
      </details>
      <button type="submit" disabled={files.length === 0}>
        {files.length < 2 ? 'Send' : `Send ${files.length} files`}
      </button>
    </form>
  );
}

/** The columns that the chosen Template needs. */
function Columns({ console, template }: { readonly console: Console; readonly template: string }): JSX.Element | null {
  const [columns, setColumns] = useState<readonly NeededColumn[]>([]);
  useEffect(() => {
    let isCurrent = true;
    setColumns([]);
    void console.columns(template).then((found) => isCurrent && setColumns(found));
    return () => {
      isCurrent = false;
    };
  }, [console, template]);
  const required = columns.filter(({ isRequired }) => isRequired);
  const others = columns.filter(({ isRequired }) => !isRequired);
  if (columns.length === 0) return null;
  return (
    <section class="columns" aria-label="Columns">
      {required.length > 0 && (
        <p>
          The file needs these columns: <ColumnNames columns={required} />
        </p>
      )}
      {others.length > 0 && (
        <p>
          It may also have these: <ColumnNames columns={others} />
        </p>
      )}
    </section>
  );
}

function ColumnNames({ columns }: { readonly columns: readonly NeededColumn[] }): JSX.Element {
  return (
    <>
      {columns.map(({ headers: [first, ...others] }, index) => (
        <span key={index}>
          {index > 0 && ', '}
          <strong>{first}</strong>
          {others.length > 0 && ` (or ${others.join(', ')})`}
        </span>
      ))}
    </>
  );
}

function DropZone({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): JSX.Element {
  const [isOver, setOver] = useState(false);
  return (
    // The zone is for the mouse only: with the keyboard, the button in it opens the same files.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a legend, and its label is that of the button
    <div
      role="group"
      aria-label="Files to send"
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <label>
        Files
        <input
          type="file"
          multiple
          onChange={({ currentTarget }) => {
            onFiles([...(currentTarget.files ?? [])]);
            // The same file can be chosen again.
            currentTarget.value = '';
          }}
        />
      </label>
      <p class="quiet">Drop one or more files here: CSV, Excel (.xlsx), JSON or Parquet.</p>
    </div>
  );
}

/** The files that Send sends. */
function Chosen({
  files,
  onFiles,
}: {
  readonly files: readonly File[];
  readonly onFiles: (files: readonly File[]) => void;
}): JSX.Element | null {
  if (files.length === 0) return null;
  return (
    <ul class="chosen" aria-label="Chosen files">
      {files.map((file, index) => (
        <li key={index}>
          {file.name} <small>{sizeText(file.size)}</small>{' '}
          <button
            type="button"
            aria-label={`Remove file ${index + 1}`}
            onClick={() => onFiles(files.filter((_, other) => other !== index))}
          >
            Remove
          </button>
        </li>
      ))}
    </ul>
  );
}

function Runs({ console }: { readonly console: Console }): JSX.Element {
  const runs = console.runs.value;
  const over = runs.filter(({ state }) => !['waiting', 'sending', 'working'].includes(state.value)).length;
  return (
    <section aria-label="Runs of this tab">
      <h2>Files of this tab</h2>
      {runs.length === 0 && <p>No files yet. The list stays when the page is reloaded, until the tab is closed.</p>}
      {runs.length > 1 && (
        <p role="status">
          {over} of {runs.length} files are done.
        </p>
      )}
      {runs.map((run) => (
        <RunView key={run.number} console={console} tabRun={run} />
      ))}
    </section>
  );
}

// The page: steps, table, text and what is told of them, and the keys that lead from one to the other.
import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RowFilter, Watched } from '../../../workers/watch/watch-messages.ts';
import { ProfilePanel } from './column-head.tsx';
import { Editor } from './editor.tsx';
import { Grid } from './grid.tsx';
import { StepList } from './step-list.tsx';
import type { Studio } from './studio.ts';

/** What F6 goes through, by what takes the focus there. */
const PANES = ['.steps button[tabindex="0"]', '.grid [data-active="true"]', '.cm-content'];

export function Page({ studio }: { readonly studio: Studio }): JSX.Element {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key === 's') void studio.save();
      else if (event.key === 'F6') focusPane(event.shiftKey ? -1 : 1);
      else if (event.key === 'Escape' && studio.traced.value !== null) studio.traced.value = null;
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [studio]);
  useSignalEffect(() => {
    document.title = `${studio.isChanged.value ? '● ' : ''}${studio.file.template} · studio`;
  });
  return (
    <div class="page">
      <Bar studio={studio} />
      <OtherBanner studio={studio} />
      <main>
        <StepList studio={studio} />
        <section class="table" aria-label="Table">
          <Filters studio={studio} />
          <Grid studio={studio} />
        </section>
        <section class="source" aria-label="Text">
          <Editor studio={studio} />
        </section>
        <aside aria-label="Details" tabIndex={0}>
          <ProfilePanel studio={studio} />
          <TracePanel studio={studio} />
          <Hint studio={studio} />
        </aside>
      </main>
      <Verdict studio={studio} />
    </div>
  );
}

function Bar({ studio }: { readonly studio: Studio }): JSX.Element {
  const { file } = studio;
  const watched = studio.watched.value;
  const rowsMax = studio.sampleRowsMax.value;
  return (
    <header>
      <h1>
        {file.template}
        {studio.isChanged.value && <span title="not saved"> ●</span>}
      </h1>
      <span class="sample">
        {file.sample}
        {watched !== null && `, ${extent(watched, rowsMax)}`}
      </span>
      <span class="buttons">
        {rowsMax !== null && !studio.isBusy.value && (
          <button type="button" onClick={() => void studio.look(true)}>
            Run whole
          </button>
        )}
        {rowsMax !== null && studio.isBusy.value && (
          <button type="button" onClick={() => void studio.stop()}>
            Stop ({studio.rowsRead.value} rows)
          </button>
        )}
        <button type="button" disabled={studio.marked.value.size === 0} onClick={() => void studio.addTest()}>
          + Test{studio.marked.value.size > 0 ? ` (${studio.marked.value.size})` : ''}
        </button>
        <button type="button" class="first" onClick={() => void studio.save()}>
          Save <kbd>Ctrl S</kbd>
        </button>
      </span>
    </header>
  );
}

function extent({ isPartial, rowsRead }: Watched, rowsMax: number | null): string {
  if (!isPartial) return `${counted(rowsRead)}, whole`;
  if (rowsMax === null || rowsRead <= rowsMax) return `the first ${counted(rowsRead)}`;
  return `the first ${rowsMax} rows and ${rowsRead - rowsMax} further down`;
}

function counted(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`;
}

function OtherBanner({ studio }: { readonly studio: Studio }): JSX.Element | null {
  if (studio.other.value === null) return null;
  return (
    <div class="banner" role="alert">
      Another program has changed the file, and the text here is not saved.
      <button type="button" onClick={() => studio.takeTheirs()}>
        Take its text
      </button>
      <button type="button" onClick={() => studio.keepMine()}>
        Keep mine
      </button>
    </div>
  );
}

function Filters({ studio }: { readonly studio: Studio }): JSX.Element {
  const step = studio.chosen.value;
  const errors = Object.values(step?.errors ?? {}).reduce((sum, entry) => sum + (entry?.count ?? 0), 0);
  const filters: readonly (readonly [RowFilter, string])[] = [
    ['all', `All ${step?.rows ?? 0}`],
    ['changed', `Changed ${step?.changedRows ?? 0}${step?.hasMoreChanged === true ? '+' : ''}`],
    ['errors', `Errors ${errors}`],
  ];
  const isCut = step !== null && step.rows > step.keptRows;
  return (
    <div class="filters">
      <span>after {studio.step.value}</span>
      <span role="group" aria-label="Rows">
        {filters.map(([filter, label]) => (
          <button
            key={filter}
            type="button"
            aria-pressed={studio.filter.value === filter}
            onClick={() => {
              studio.filter.value = filter;
            }}
          >
            {label}
          </button>
        ))}
      </span>
      {isCut && <span class="quiet">the first {step.keptRows} rows are shown</span>}
      {studio.problems.value.length > 0 && <span class="quiet">as of the last text that could be read</span>}
    </div>
  );
}

function TracePanel({ studio }: { readonly studio: Studio }): JSX.Element | null {
  const traced = studio.traced.value;
  if (traced === null) return null;
  return (
    <section class="details" aria-label="Trace of a cell">
      <h2>
        Row {traced.sourceRow}, {traced.column}
      </h2>
      <ol class="trace" start={0}>
        {traced.steps.map((cell, step) => (
          <li key={step} class={cell.isChanged ? 'changed' : ''}>
            <span class="name">{cell.operation ?? 'input'}</span>{' '}
            {cell.isThere ? (
              <code>{cell.text ?? 'null'}</code>
            ) : (
              <span class="quiet">{cell.column === null ? 'no such column' : 'the row is not here'}</span>
            )}
            {cell.isChanged && ' changed'}
            {cell.troubles.map(({ code }) => (
              <strong key={code} class="trouble">
                {' '}
                ⚠ {code}
              </strong>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Hint({ studio }: { readonly studio: Studio }): JSX.Element | null {
  if (studio.traced.value !== null || studio.profiled.value !== null) return null;
  return (
    <p class="quiet">
      Enter on a cell: its way through the steps. Enter on a column: its profile. Space: mark the row for a test. F6:
      the next part of the page. Ctrl Space: complete.
    </p>
  );
}

function Verdict({ studio }: { readonly studio: Studio }): JSX.Element {
  const failure = studio.failure.value;
  const [problem] = studio.problems.value;
  const rows = studio.watched.value?.rowsWritten;
  const verdict =
    problem !== undefined
      ? `${studio.problems.value.length === 1 ? '1 problem' : `${studio.problems.value.length} problems`}: line ${problem.line}, ${problem.code}: ${problem.message}`
      : failure !== null
        ? `${studio.isHead.value ? '≈ ' : ''}A Run would end here. ${failure.code}: ${failure.message}`
        : rows === null || rows === undefined
          ? ''
          : `A Run would write ${counted(rows)}${studio.watched.value?.isPartial ? ' of those read' : ''}.`;
  return (
    <footer>
      <span
        class={problem !== undefined || failure !== null ? 'trouble' : ''}
        role="status"
        data-busy={studio.isBusy.value}
      >
        {verdict}
      </span>
      <span role="status">{studio.message.value}</span>
    </footer>
  );
}

function focusPane(by: number): void {
  const panes = PANES.map((selector) => document.querySelector<HTMLElement>(selector));
  const at = panes.findIndex((pane) => pane !== null && paneOf(pane).contains(document.activeElement));
  const next = at < 0 ? 0 : (at + by + PANES.length) % PANES.length;
  panes[next]?.focus();
}

function paneOf(pane: HTMLElement): Element {
  return pane.closest('.steps, .grid, .source') ?? pane;
}

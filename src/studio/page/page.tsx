// The page: steps, table, editor and messages, and the keys that move the focus between them.
import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { RowFilter, Watched } from '../../../workers/watch/watch-messages.ts';
import { ProfilePanel, rangeText } from './column-head.tsx';
import { Editor } from './editor.tsx';
import { Grid } from './grid.tsx';
import { CellPart, Menu } from './menu.tsx';
import { facetCondition } from './menu-entries.ts';
import { OperationFormPane, OperationPicker } from './operation-form.tsx';
import { PaneBorder, PaneButton, type Panes } from './panes.tsx';
import type { StepForm } from './step-form.ts';
import { FileButton, StepList } from './step-list.tsx';
import type { Studio } from './studio.ts';
import type { Suggestions } from './suggestions.ts';

/** The panes that F6 cycles through, each given by the element that receives the focus. */
const PANES = ['.steps button[tabindex="0"]', '.grid [data-active="true"]', '.cm-content'];

export interface PageParts {
  readonly studio: Studio;
  readonly form: StepForm;
  readonly suggestions: Suggestions;
  readonly panes: Panes;
}

export function Page({ studio, form, suggestions, panes }: PageParts): JSX.Element {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key === 's') void studio.save();
      else if (event.key === 'F6') focusPane(event.shiftKey ? -1 : 1);
      else if (historyKey(event, form)) {
        // The text has changed.
      } else if (event.key === 'Escape' && studio.hasDetails) studio.closeDetails();
      else return;
      event.preventDefault();
    };
    // The browser asks for confirmation before the page is left.
    const onLeave = (event: BeforeUnloadEvent): void => {
      if (studio.isChanged.value) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    window.addEventListener('beforeunload', onLeave);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      window.removeEventListener('beforeunload', onLeave);
    };
  }, [studio, form]);
  useSignalEffect(() => {
    document.title = `${studio.isChanged.value ? '● ' : ''}${studio.file.template} · studio`;
  });
  return (
    <div class="page">
      <Bar studio={studio} form={form} panes={panes} />
      <OtherBanner studio={studio} />
      <DraftBanner studio={studio} />
      <main
        class={`${panes.steps.isShown.value ? '' : 'without-steps '}${panes.text.isShown.value ? '' : 'without-text'}`}
        style={{ '--steps-size': `${panes.steps.size.value}px`, '--text-size': `${panes.text.size.value}px` }}
      >
        <StepList studio={studio} form={form} suggestions={suggestions} />
        <section class="table" aria-label="Table">
          <Filters studio={studio} />
          <FacetBar studio={studio} form={form} />
          <EmptyNote studio={studio} />
          <Grid studio={studio} />
        </section>
        <PaneBorder pane={panes.steps} axis="x" />
        <PaneBorder pane={panes.text} axis="y" />
        <section class="source" aria-label="Text">
          <Editor studio={studio} />
        </section>
        <Side studio={studio} form={form} />
        {studio.menu.value !== null && <Menu studio={studio} form={form} menu={studio.menu.value} />}
      </main>
      <Verdict studio={studio} />
      <RecoveryDialog studio={studio} />
    </div>
  );
}

/** Undo and redo by keys, except in inputs and in the text, which have their own. */
function historyKey(event: KeyboardEvent, form: StepForm): boolean {
  const key = event.key.toLowerCase();
  if (!(event.ctrlKey || event.metaKey) || !['z', 'y'].includes(key)) return false;
  if ((event.target as Element).closest('input, textarea, select, .cm-editor') !== null) return false;
  if (key === 'z' && !event.shiftKey) form.undo();
  else form.redo();
  return true;
}

/** The pane beside the table: the form of a step, the list of operations, the profile of a column or the trace of a cell. */
function Side({ studio, form }: { readonly studio: Studio; readonly form: StepForm }): JSX.Element | null {
  const open = form.open.value;
  if (open === null && !form.isPicking.value && !studio.hasDetails) return null;
  return (
    <aside aria-label="Details" tabIndex={0}>
      <HistoryPanel studio={studio} form={form} />
      {form.isPicking.value && <OperationPicker operations={studio.language.operations} form={form} />}
      {open !== null && <OperationFormPane studio={studio} form={form} open={open} />}
      {open === null && !form.isPicking.value && (
        <>
          <button type="button" class="small close" onClick={() => studio.closeDetails()}>
            Close
          </button>
          <ProfilePanel studio={studio} form={form} />
          <TracePanel studio={studio} form={form} />
          <TestsPanel studio={studio} />
        </>
      )}
    </aside>
  );
}

function Bar({ studio, form, panes }: Omit<PageParts, 'suggestions'>): JSX.Element {
  const { file } = studio;
  const watched = studio.watched.value;
  const rowsMax = studio.sampleRowsMax.value;
  return (
    <header>
      <h1>
        {file.template}
        {studio.isChanged.value && (
          <span class="unsaved" title="not saved">
            {' '}
            ● {studio.isStored.value ? 'unsaved changes' : 'draft, never saved'}
          </span>
        )}
      </h1>
      <span class="sample">
        {studio.sample.value}
        {watched !== null && `, ${extent(watched, rowsMax)}`}
      </span>
      <FileButton
        label="Open sample…"
        title="Opens another sample"
        onFile={(opened) => void studio.openSample(opened)}
      />
      <span class="buttons">
        <span role="group" aria-label="Shown">
          <PaneButton pane={panes.steps} /> <PaneButton pane={panes.text} />
        </span>
        <HistoryButtons studio={studio} form={form} />
        {rowsMax !== null && !studio.isBusy.value && (
          <button type="button" onClick={() => void studio.evaluate(true)}>
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
        <button type="button" disabled={studio.isRunning.value} onClick={() => void studio.runTests()}>
          Run tests
        </button>
        <button
          type="button"
          disabled={studio.isRunning.value}
          title="Runs the whole file and saves the output"
          onClick={() => void studio.download()}
        >
          Download
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
      Another program has changed the file, and your text here is not saved.
      <button type="button" onClick={() => studio.takeTheirs()}>
        Take its text
      </button>
      <button type="button" onClick={() => studio.keepMine()}>
        Keep mine
      </button>
    </div>
  );
}

function DraftBanner({ studio }: { readonly studio: Studio }): JSX.Element | null {
  if (!studio.isDrafting.value) return null;
  return (
    <div class="banner" role="status">
      <progress aria-label="Draft" max={100} value={studio.draftPercent.value} />A draft is being made from the whole
      sample: {studio.draftPercent.value} %. You can look at the rows meanwhile.
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
      {studio.isOld.value && <span class="quiet">of the last text that was valid</span>}
    </div>
  );
}

/** What to do if the table has no rows. */
function EmptyNote({ studio }: { readonly studio: Studio }): JSX.Element | null {
  const step = studio.chosen.value;
  if (step === null && studio.watched.value !== null && studio.failure.value !== null)
    return (
      <p class="empty quiet">
        The sample cannot be read with these settings. Press Edit at step 0 to set its encoding, delimiter, header row
        and sheet, or Open sample… to open another file.
      </p>
    );
  if (step === null || studio.filter.value !== 'all' || step.rows > 0) return null;
  const hint =
    studio.step.value === 0
      ? 'The sample has no rows.'
      : 'No rows are left after this step. Choose an earlier step, or edit this one.';
  return <p class="empty quiet">{hint}</p>;
}

/** The value whose rows are shown, and the steps that it can become. */
function FacetBar({ studio, form }: { readonly studio: Studio; readonly form: StepForm }): JSX.Element | null {
  const facet = studio.facet.value;
  if (facet === null) return null;
  const { column, text, range } = facet;
  const where = facetCondition(facet);
  return (
    <div class="facet-bar" role="group" aria-label="Rows with a value">
      <span>
        {column}: {range !== null ? rangeText(range) : (text ?? <em>blank</em>)}
      </span>
      {where !== null && (
        <>
          <button type="button" class="small" onClick={() => form.add('filter', { where })}>
            Keep these rows as a step…
          </button>
          <button type="button" class="small" onClick={() => form.add('filter', { where, mode: 'drop' })}>
            Drop them as a step…
          </button>
        </>
      )}
      <button
        type="button"
        class="small"
        onClick={() => {
          studio.facet.value = null;
        }}
      >
        Show all rows
      </button>
    </div>
  );
}

function TracePanel({ studio, form }: { readonly studio: Studio; readonly form: StepForm }): JSX.Element | null {
  const traced = studio.traced.value;
  if (traced === null) return null;
  return (
    <section class="details" aria-label="Trace of a cell">
      <h2>
        {traced.fileRow === null ? 'An added row' : `Row ${traced.fileRow}`}, {traced.column}
      </h2>
      <CellPart key={`${traced.fileRow} ${traced.column}`} studio={studio} form={form} />
      <ol class="trace" start={0}>
        {traced.steps.map((cell, step) => (
          <li key={step} class={cell.isChanged ? 'changed' : ''}>
            <span class="name">{cell.operation ?? 'input'}</span>{' '}
            {cell.isThere ? (
              <code>{cell.text ?? 'null'}</code>
            ) : (
              <span class="quiet">{cell.column === null ? 'no such column' : 'the row is not in this step'}</span>
            )}
            {cell.isChanged && ' changed'}
            {cell.errors.map(({ code }) => (
              <strong key={code} class="error">
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

function TestsPanel({ studio }: { readonly studio: Studio }): JSX.Element | null {
  const tested = studio.tested.value;
  if (tested === null) return null;
  return (
    <section class="details tests" aria-label="Tests">
      <h2>Tests</h2>
      {tested.length === 0 && <p>This Template has no tests. Mark rows with Space, then press + Test.</p>}
      <ul>
        {tested.map(({ test, passed, differences }, index) => (
          <li key={index}>
            {passed ? '✓ passed: ' : <strong class="error">✗ failed: </strong>}
            {test}
            {differences.length > 0 && <pre>{differences.join('\n')}</pre>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Verdict({ studio }: { readonly studio: Studio }): JSX.Element {
  const failure = studio.failure.value;
  const [problem] = studio.problems.value;
  const rows = studio.watched.value?.rowsWritten;
  const verdict =
    problem !== undefined
      ? `${studio.problems.value.length === 1 ? '1 problem' : `${studio.problems.value.length} problems`}. Line ${problem.line}: ${plain(problem)} (${problem.code})`
      : failure !== null
        ? `${studio.isHead.value ? '≈ ' : ''}A Run would end here. ${failure.code}: ${failure.message}`
        : rows === null || rows === undefined
          ? ''
          : `A Run would write ${counted(rows)}${studio.watched.value?.isPartial ? ' of those read' : ''}.`;
  return (
    <footer>
      <span
        class={problem !== undefined || failure !== null ? 'error' : ''}
        role="status"
        data-busy={studio.isBusy.value}
      >
        {verdict}
      </span>
      <span role="status">{studio.message.value}</span>
    </footer>
  );
}

/** The line is named before it, so the message continues that sentence. */
function plain({ message }: { readonly message: string }): string {
  return message.replace(/^Not valid YAML: /, '');
}

function focusPane(by: number): void {
  // A hidden pane has no place on the screen.
  const panes = PANES.map((selector) => document.querySelector<HTMLElement>(selector)).filter(
    (pane) => pane !== null && pane.getClientRects().length > 0,
  );
  const at = panes.findIndex((pane) => pane !== null && paneOf(pane).contains(document.activeElement));
  const next = at < 0 ? 0 : (at + by + panes.length) % panes.length;
  panes[next]?.focus();
}

function paneOf(pane: HTMLElement): Element {
  return pane.closest('.steps, .grid, .source') ?? pane;
}

// Undo, redo, and the list of the changes of this page, each of which can be gone back to.

export function HistoryButtons({ studio, form }: { readonly studio: Studio; readonly form: StepForm }): JSX.Element {
  const { history } = studio;
  return (
    <span role="group" aria-label="History">
      <button
        type="button"
        title="Ctrl Z outside of the text"
        disabled={!history.canUndo.value}
        onClick={() => form.undo()}
      >
        Undo
      </button>{' '}
      <button type="button" title="Ctrl Shift Z" disabled={!history.canRedo.value} onClick={() => form.redo()}>
        Redo
      </button>{' '}
      <button type="button" aria-pressed={studio.isHistoryShown.value} onClick={() => studio.showHistory()}>
        History
      </button>
    </span>
  );
}

/** The newest change is at the top. Changes that were undone stay in the list until another change follows. */
export function HistoryPanel({
  studio,
  form,
}: {
  readonly studio: Studio;
  readonly form: StepForm;
}): JSX.Element | null {
  if (!studio.isHistoryShown.value) return null;
  const { versions, current } = studio.history;
  const at = current.value;
  return (
    <section class="details history" aria-label="History">
      <h2>History</h2>
      <p class="quiet">A click goes back to the text after this change.</p>
      <ol reversed>
        {versions.value
          .map(({ label }, index) => (
            <li key={index}>
              <button
                type="button"
                class={index > at ? 'undone' : ''}
                aria-current={index === at ? 'true' : undefined}
                onClick={() => form.goTo(index)}
              >
                {label}
                {index > at && <span class="quiet"> (undone)</span>}
              </button>
            </li>
          ))
          .reverse()}
      </ol>
    </section>
  );
}

// The question what to do with a text that another page did not save. The page waits for the decision.

export function RecoveryDialog({ studio }: { readonly studio: Studio }): JSX.Element | null {
  const dialog = useRef<HTMLDialogElement>(null);
  const recovered = studio.keeper.recovered.value;
  useLayoutEffect(() => dialog.current?.showModal(), [recovered]);
  if (recovered === null) return null;
  const { file } = studio;
  return (
    <dialog
      ref={dialog}
      class="recovery"
      aria-labelledby="recovery-title"
      // Escape is no decision. Other ways to close a dialog, such as a gesture, open it again.
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.preventDefault();
      }}
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.showModal()}
    >
      <h2 id="recovery-title">Restore your unsaved text?</h2>
      <p>
        A text of {file.template} was not saved. Its last change was {ago(Date.now() - recovered.writtenAt)}.
        {recovered.mayBeOpen && ' It may belong to another window that is still open; then leave it there.'}
        {recovered.isTemplateNewer && ' The file was changed after that, so compare the two before you save.'}
      </p>
      <p>
        <button type="button" class="first" onClick={() => void studio.restore()}>
          Restore
        </button>{' '}
        <button type="button" onClick={() => void studio.keeper.decide('leave')}>
          Leave it
        </button>{' '}
        <button type="button" onClick={() => void studio.keeper.decide('drop')}>
          Delete the unsaved text
        </button>
      </p>
    </dialog>
  );
}

const MINUTE_MILLISECONDS = 60_000;
const MINUTES_OF_HOUR = 60;
const HOURS_OF_DAY = 24;

function ago(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / MINUTE_MILLISECONDS);
  const hours = Math.floor(minutes / MINUTES_OF_HOUR);
  const days = Math.floor(hours / HOURS_OF_DAY);
  if (minutes < 1) return 'less than a minute ago';
  if (hours < 1) return countedAgo(minutes, 'minute');
  return days < 1 ? countedAgo(hours, 'hour') : countedAgo(days, 'day');
}

function countedAgo(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

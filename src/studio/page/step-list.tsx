// The list of steps with the result of each operation. Steps can be chosen, added, edited, switched off, moved,
// duplicated and deleted.
import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { WatchedStep } from '../../../workers/watch/watch-messages.ts';
import { deleted, duplicated, moved, switched } from './operation-edits.ts';
import { operationList } from './operation-list.ts';
import { itemOf } from './page-parts.ts';
import type { StepForm } from './step-form.ts';
import type { Studio } from './studio.ts';
import type { ListedSuggestion, Suggestions } from './suggestions.ts';

/** A step that runs, or one that is switched off and therefore has no number. */
interface Entry {
  readonly label: string;
  /** Columns or condition of the operation. */
  readonly subject: string;
  readonly step: number | null;
  readonly watched: WatchedStep | null;
  /** Index in the list of operations in the text; null: cannot be edited here. */
  readonly item: number | null;
  /**
   * Off: the text disables the step. Mistake: the step has the first mistake. Waiting: the step is below the first mistake.
   * Unreadable: the file cannot be read with the settings of the input.
   */
  readonly state: 'live' | 'off' | 'mistake' | 'waiting' | 'unreadable';
  /** Offset in the text; null: none. */
  readonly offset: number | null;
}

export function StepList({
  studio,
  form,
  suggestions,
}: {
  readonly studio: Studio;
  readonly form: StepForm;
  readonly suggestions: Suggestions;
}): JSX.Element {
  const list = useRef<HTMLOListElement>(null);
  const dragged = useRef<number | null>(null);
  const entries = entriesOf(studio);
  const chosen = entries.findIndex(({ step }) => step === studio.step.value);
  const move = (from: number, to: number): void =>
    takeEdit(studio, form, moved(studio.text.value, from, to), 'Move a step');
  const act = (entry: Entry, key: string): void => actOn(studio, form, entry, key);
  const choose = ({ step, offset }: Entry): void => {
    if (step !== null) studio.choose(step);
    else studio.shownOffset.value = offset;
  };
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const entry = entries[index]!;
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0 && event.altKey) act(entry, by > 0 ? 'down' : 'up');
    else if (by !== 0) {
      const buttons = list.current?.querySelectorAll<HTMLElement>('button.step');
      buttons?.[index + by]?.focus();
      const next = entries[index + by];
      if (next !== undefined) choose(next);
    } else if (event.key === 'e' && entry.step === 0) void form.editSection('input');
    else if (['e', 'x', 'd', 'Delete'].includes(event.key)) act(entry, event.key);
    else if (event.key === 'a') form.pick();
    else return;
    event.preventDefault();
  };
  useFocusOnChosen(list, chosen);
  return (
    <nav class="steps" aria-label="Steps">
      <h2>Steps</h2>
      <ol ref={list}>
        {entries.map((entry, index) => (
          <li key={index} {...dragging(entry, dragged, move)}>
            <button
              type="button"
              class={`step ${entry.state}`}
              tabIndex={index === Math.max(0, chosen) ? 0 : -1}
              aria-current={index === chosen ? 'step' : undefined}
              onClick={() => choose(entry)}
              onKeyDown={(event) => onKeyDown(event, index)}
            >
              <StepLine
                entry={entry}
                before={entries[index - 1]?.watched ?? null}
                isPartial={studio.watched.value?.isPartial === true}
              />
            </button>
            {index === chosen && entry.step === 0 && <InputActions form={form} />}
            {index === chosen && entry.item !== null && <StepActions act={(key) => act(entry, key)} isOff={false} />}
            {entry.state === 'off' && <StepActions act={(key) => act(entry, key)} isOff={true} />}
          </li>
        ))}
      </ol>
      <EmptyHint entries={entries} />
      <AddButton form={form} />
      <SuggestionList suggestions={suggestions} />
      <Hints />
    </nav>
  );
}

function EmptyHint({ entries: [input, ...steps] }: { readonly entries: readonly Entry[] }): JSX.Element | null {
  if (input?.state !== 'live' || steps.length > 0) return null;
  return <p class="empty quiet">No steps yet. Press + Step, or open the menu ▾ of a column.</p>;
}

function Hints(): JSX.Element {
  return (
    <p class="keys quiet">
      Enter on a cell: its values through the steps. Enter on a column: its profile. Space: mark the row for a test. F6:
      the next part of the page. Ctrl Space: complete.
    </p>
  );
}

function AddButton({ form }: { readonly form: StepForm }): JSX.Element {
  return (
    <p class="add">
      <button type="button" title="Key a in the steps" onClick={() => form.pick()}>
        + Step
      </button>{' '}
      <button type="button" onClick={() => void form.editSection('output')}>
        Output…
      </button>{' '}
      <FileButton
        label="Join a file…"
        title="Makes a local CSV file a reference table, and joins it"
        onFile={(file) => void form.join(file)}
      />
    </p>
  );
}

/** Attributes with which an entry can be dragged to another one. */
function dragging(
  { item }: Entry,
  dragged: { current: number | null },
  move: (from: number, to: number) => void,
): JSX.IntrinsicElements['li'] {
  return {
    draggable: item !== null,
    onDragStart: () => {
      dragged.current = item;
    },
    onDragOver: (event) => event.preventDefault(),
    onDrop: () => {
      if (dragged.current !== null && item !== null) move(dragged.current, item);
    },
  };
}

function takeEdit(studio: Studio, form: StepForm, text: string | null, label: string): void {
  form.close();
  if (text === null) studio.message.value = 'This operation is written in a form that can be edited only in the text.';
  else studio.write(text, label);
}

/** @param key the key of the action */
function actOn(studio: Studio, form: StepForm, { item, step, label, subject, state }: Entry, key: string): void {
  if (item === null) return;
  const { text, file } = studio;
  const edit = (does: string, edited: string | null): void =>
    takeEdit(studio, form, edited, `${does} ${label} ${subject}`.trimEnd());
  if (key === 'e' && step !== null) void form.edit(item, step);
  if (key === 'x') edit(state === 'off' ? 'Turn on' : 'Turn off', switched(text.value, file.format, item));
  if (key === 'd') edit('Duplicate', duplicated(text.value, item));
  if (key === 'Delete') edit('Delete', deleted(text.value, item));
  const move = (by: -1 | 1): void => {
    const edited = moved(text.value, item, item + by);
    const other = operationList(text.value).items[item + by];
    // The moved step stays chosen. A step that is off has no number.
    if (edited !== null && step !== null && other?.isOff === false) studio.expectStep(step + by);
    edit(by < 0 ? 'Move up' : 'Move down', edited);
  };
  if (key === 'up') move(-1);
  if (key === 'down') move(1);
}

/**
 * The focus follows the chosen step, for example when the rows of a new step have arrived. It stays on a step that was
 * switched off, so that the same key switches the step on again.
 */
function useFocusOnChosen(list: RefObject<HTMLOListElement | null>, chosen: number): void {
  useLayoutEffect(() => {
    const focused = document.activeElement;
    if (focused === null || !focused.matches('button.step:not(.off)') || !list.current!.contains(focused)) return;
    list.current!.querySelector<HTMLElement>('[aria-current]')?.focus();
  }, [chosen]);
}

/** How the file is read: its encoding, delimiter, header row, sheet and columns. */
function InputActions({ form }: { readonly form: StepForm }): JSX.Element {
  return (
    <span class="actions">
      <button type="button" title="Key e" onClick={() => void form.editSection('input')}>
        Edit
      </button>
    </span>
  );
}

function StepActions({ act, isOff }: { readonly act: (key: string) => void; readonly isOff: boolean }): JSX.Element {
  return (
    <span class="actions">
      {!isOff && (
        <button type="button" title="Key e" onClick={() => act('e')}>
          Edit
        </button>
      )}
      <button type="button" title="Key x" onClick={() => act('x')}>
        {isOff ? 'On' : 'Off'}
      </button>
      {!isOff && (
        <>
          <button type="button" title="Key d" onClick={() => act('d')}>
            Duplicate
          </button>
          <button type="button" aria-label="Move up" title="Alt and arrow up" onClick={() => act('up')}>
            ↑
          </button>
          <button type="button" aria-label="Move down" title="Alt and arrow down" onClick={() => act('down')}>
            ↓
          </button>
        </>
      )}
      <button type="button" aria-label="Delete the step" title="Key Delete" onClick={() => act('Delete')}>
        Delete
      </button>
    </span>
  );
}

/** Why a step has no rows. */
const NOTES = { live: '', off: 'off', mistake: 'mistake', waiting: 'not run', unreadable: 'cannot be read' } as const;

function StepLine({
  entry: { label, subject, step, watched, state },
  before,
  isPartial,
}: {
  readonly entry: Entry;
  readonly before: WatchedStep | null;
  readonly isPartial: boolean;
}): JSX.Element {
  const about = <span class="subject">{subject}</span>;
  if (watched === null) {
    return (
      <>
        {step !== null && <span class="number">{step}</span>}
        <span class="name">
          {(state === 'mistake' || state === 'unreadable') && '⚠ '}
          {label} ({NOTES[state]}) {about}
        </span>
      </>
    );
  }
  const lost = before === null ? 0 : before.rows - watched.rows;
  const errors = Object.values(watched.errors).reduce((sum, entry) => sum + (entry?.count ?? 0), 0);
  const approximate = isPartial && !watched.isExact ? '≈ ' : '';
  return (
    <>
      <span class="number">{step}</span>
      <span class="name" title={subject}>
        {label} {about}
      </span>
      <span class="counts">
        {approximate}
        {watched.rows}×{watched.columns.length}
        {lost !== 0 && <span title="rows less or more"> {lost > 0 ? `−${lost}` : `+${-lost}`}</span>}
        {watched.cellsChanged > 0 && <span title="cells changed"> ~{watched.cellsChanged}</span>}
        {errors > 0 && (
          <strong class="error" title="errors in rows">
            {' '}
            ⚠{errors}
          </strong>
        )}
      </span>
    </>
  );
}

const UNREADABLE_INPUT: Entry = {
  label: 'input',
  subject: '',
  step: 0,
  watched: null,
  item: null,
  state: 'unreadable',
  offset: null,
};

/** All steps in the order of the text, both those that run and those that do not. */
function entriesOf(studio: Studio): readonly Entry[] {
  const { items } = operationList(studio.preview.value ?? studio.text.value);
  const steps = studio.watched.value?.steps ?? [];
  const isUnreadable = studio.watched.value !== null && steps.length === 0;
  const mistake = isUnreadable ? -1 : (studio.mistakeItem.value ?? items.length);
  const entries = steps.map((watched, step): Entry => {
    const item = step === 0 ? null : itemOf(watched);
    const label =
      step === 0 ? 'input' : watched.id === null ? watched.operation! : `${watched.operation} "${watched.id}"`;
    const { subject, node } = (item === null ? undefined : items[item]) ?? { subject: '', node: null };
    return { label, subject, step, watched, item, state: 'live', offset: node?.from ?? null };
  });
  // The entry opens the form in which the user corrects these settings.
  if (isUnreadable) entries.push(UNREADABLE_INPUT);
  for (const [item, { isOff, name, subject, node }] of items.entries()) {
    if (!isOff && item < mistake) continue;
    const state = isOff ? 'off' : item === mistake ? 'mistake' : 'waiting';
    const next = entries.findIndex((entry) => entry.item !== null && entry.item > item);
    const entry: Entry = { label: name, subject, step: null, watched: null, item, state, offset: node.from };
    entries.splice(next < 0 ? entries.length : next, 0, entry);
  }
  return entries;
}

// The suggestions below the list of steps, each with its evidence and buttons to apply or dismiss it.

/** Suggestions shown at once; more would hide the steps. */
const SHOWN_MAX = 30;

export function SuggestionList({ suggestions }: { readonly suggestions: Suggestions }): JSX.Element | null {
  const list = useRef<HTMLUListElement>(null);
  const listed = suggestions.listed.slice(0, SHOWN_MAX);
  if (listed.length === 0) return null;
  const act = (index: number, change: (suggestion: ListedSuggestion) => void): void => {
    change(listed[index]!);
    // The focus stays in the list, at the suggestion that takes the place of this one.
    requestAnimationFrame(() => {
      const buttons = list.current?.querySelectorAll<HTMLElement>('button.apply') ?? [];
      const next = buttons[Math.min(index, buttons.length - 1)];
      (next ?? document.querySelector<HTMLElement>('.steps button[tabindex="0"]'))?.focus();
    });
  };
  return (
    <section class="suggestions" aria-label="Suggestions">
      <h2>Suggestions ({listed.length})</h2>
      <ul ref={list}>
        {listed.map((suggestion, index) => {
          const { operation, subject } = titleOf(suggestion.written);
          return (
            <li key={suggestion.written}>
              <strong title={suggestion.written}>{operation}</strong> <span class="subject">{subject}</span>
              {suggestion.evidence !== '' && <span class="evidence">{suggestion.evidence}</span>}
              <span class="buttons">
                <button
                  type="button"
                  class="small apply"
                  aria-label={`Apply ${operation} ${subject}`}
                  onClick={() => act(index, (each) => suggestions.apply(each))}
                >
                  Apply
                </button>{' '}
                {suggestion.made?.similarity !== undefined && (
                  <button
                    type="button"
                    class="small"
                    aria-label={`Review ${operation} ${subject}`}
                    onClick={() => suggestions.review(suggestion.made!)}
                  >
                    Review…
                  </button>
                )}{' '}
                <button
                  type="button"
                  class="small"
                  aria-label={`Dismiss ${operation} ${subject}`}
                  onClick={() => act(index, (each) => suggestions.dismiss(each))}
                >
                  Dismiss
                </button>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** `{parse_date: {columns: a, ...}}`: the operation, and its columns or its other parameters. */
function titleOf(written: string): { readonly operation: string; readonly subject: string } {
  const operation = /^\{(\w+)/.exec(written)?.[1] ?? '';
  const parameters = written.slice(operation.length + '{: '.length, -1).replace(/^\{(.*)\}$/, '$1');
  return { operation, subject: parameters.replace(/^(?:columns?|where|by): /, '') };
}

// A button with which the user opens a local file.

export function FileButton({
  label,
  title,
  onFile,
}: {
  readonly label: string;
  readonly title: string;
  readonly onFile: (file: File) => void;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" title={title} onClick={() => input.current?.click()}>
        {label}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file !== undefined) onFile(file);
          // The same file can be opened again.
          currentTarget.value = '';
        }}
      />
    </>
  );
}

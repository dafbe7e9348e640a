// The steps: what each operation did, to be chosen, switched off, moved and duplicated.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { WatchedStep } from '../../../workers/watch/watch-messages.ts';
import { duplicated, listItems, moved, switched } from './step-edits.ts';
import type { Studio } from './studio.ts';

/** A step that runs, or one that is switched off (it has no number). */
interface Entry {
  readonly label: string;
  readonly step: number | null;
  readonly watched: WatchedStep | null;
  /** Place in the list of operations of the text; null: it cannot be edited from here. */
  readonly item: number | null;
}

export function StepList({ studio }: { readonly studio: Studio }): JSX.Element {
  const list = useRef<HTMLOListElement>(null);
  const dragged = useRef<number | null>(null);
  const entries = entriesOf(studio);
  const chosen = entries.findIndex(({ step }) => step === studio.step.value);
  const edit = (text: string | null): void => {
    if (text === null) studio.message.value = 'This operation is written in a way that is edited in the text alone.';
    else studio.write(text);
  };
  const act = (entry: Entry, key: string): void => {
    if (entry.item === null) return;
    const { value: text } = studio.text;
    if (key === 'x') edit(switched(text, entry.item));
    if (key === 'd') edit(duplicated(text, entry.item));
    if (key === 'up') edit(moved(text, entry.item, entry.item - 1));
    if (key === 'down') edit(moved(text, entry.item, entry.item + 1));
  };
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const entry = entries[index]!;
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0 && event.altKey) act(entry, by > 0 ? 'down' : 'up');
    else if (by !== 0) {
      const buttons = list.current?.querySelectorAll<HTMLElement>('button.step');
      buttons?.[index + by]?.focus();
      const next = entries[index + by]?.step;
      if (next !== undefined && next !== null) studio.choose(next);
    } else if (event.key === 'x' || event.key === 'd') act(entry, event.key);
    else return;
    event.preventDefault();
  };
  return (
    <nav class="steps" aria-label="Steps">
      <h2>Steps</h2>
      <ol ref={list}>
        {entries.map((entry, index) => (
          <li
            key={index}
            draggable={entry.item !== null}
            onDragStart={() => {
              dragged.current = entry.item;
            }}
            onDragOver={(event) => event.preventDefault()}
            onDrop={() => {
              if (dragged.current !== null && entry.item !== null)
                edit(moved(studio.text.value, dragged.current, entry.item));
            }}
          >
            <button
              type="button"
              class={`step${entry.step === null ? ' off' : ''}`}
              tabIndex={index === Math.max(0, chosen) ? 0 : -1}
              aria-current={index === chosen ? 'step' : undefined}
              onClick={() => entry.step !== null && studio.choose(entry.step)}
              onKeyDown={(event) => onKeyDown(event, index)}
            >
              <StepLine
                entry={entry}
                before={entries[index - 1]?.watched ?? null}
                isPartial={studio.watched.value?.isPartial === true}
              />
            </button>
            {index === chosen && entry.item !== null && <StepActions act={(key) => act(entry, key)} isOff={false} />}
            {entry.step === null && <StepActions act={(key) => act(entry, key)} isOff={true} />}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function StepActions({ act, isOff }: { readonly act: (key: string) => void; readonly isOff: boolean }): JSX.Element {
  return (
    <span class="actions">
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
    </span>
  );
}

function StepLine({
  entry: { label, step, watched },
  before,
  isPartial,
}: {
  readonly entry: Entry;
  readonly before: WatchedStep | null;
  readonly isPartial: boolean;
}): JSX.Element {
  if (watched === null) return <span class="name">{label} (off)</span>;
  const lost = before === null ? 0 : before.rows - watched.rows;
  const errors = Object.values(watched.errors).reduce((sum, entry) => sum + (entry?.count ?? 0), 0);
  const about = isPartial && !watched.isExact ? '≈ ' : '';
  return (
    <>
      <span class="number">{step}</span>
      <span class="name">{label}</span>
      <span class="counts">
        {about}
        {watched.rows}×{watched.columns.length}
        {lost !== 0 && <span title="rows less or more"> {lost > 0 ? `−${lost}` : `+${-lost}`}</span>}
        {watched.cellsChanged > 0 && <span title="cells changed"> ~{watched.cellsChanged}</span>}
        {errors > 0 && (
          <strong class="trouble" title="errors in rows">
            {' '}
            ⚠{errors}
          </strong>
        )}
      </span>
    </>
  );
}

/** The steps that run, with those that are switched off between them where they stand in the text. */
function entriesOf(studio: Studio): readonly Entry[] {
  const items = listItems(studio.text.value);
  const steps = studio.watched.value?.steps ?? [];
  const running = steps.map((watched, step): Entry & { line: number } => {
    const line = watched.line ?? 0;
    const item = items.findIndex(({ from, to }) => step > 0 && line > from && line <= to);
    const label =
      step === 0 ? 'input' : watched.id === null ? watched.operation! : `${watched.operation} "${watched.id}"`;
    return { label, step, watched, item: item < 0 ? null : item, line };
  });
  const off = items.flatMap(({ isOff, name, from }, item) =>
    isOff ? [{ label: name, step: null, watched: null, item, line: from + 1 }] : [],
  );
  if (off.length === 0) return running;
  return [...running, ...off].sort((a, b) => a.line - b.line);
}

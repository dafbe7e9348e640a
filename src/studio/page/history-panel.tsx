// Undo, redo, and the list of the changes of this page, each of which can be gone back to.
import type { JSX } from 'preact';
import type { StepForm } from './step-form.ts';
import type { Studio } from './studio.ts';

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
export function HistoryPanel({ studio }: { readonly studio: Studio }): JSX.Element | null {
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
                onClick={() => studio.goTo(index)}
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

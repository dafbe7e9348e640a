// The suggestions below the list of steps, each with its evidence and buttons to apply or dismiss it.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { ListedSuggestion, Suggestions } from './suggestions.ts';

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

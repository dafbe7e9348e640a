// The text of a cell, of which a part can be selected with the mouse or the keyboard to make a step.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { frequentTexts } from './open-menu.ts';
import { partMenu } from './part-pattern.ts';
import type { StepForm } from './step-form.ts';
import type { Studio } from './studio.ts';

/** Rows of the box with the text. */
const BOX_ROWS = 2;

export function CellPart({ studio, form }: { readonly studio: Studio; readonly form: StepForm }): JSX.Element | null {
  const [range, setRange] = useState({ from: 0, to: 0 });
  const traced = studio.traced.value;
  const column = studio.chosen.value?.columns.find(({ name }) => name === traced?.column);
  const text = traced?.steps[studio.step.value]?.text ?? null;
  if (column?.type !== 'text' || text === null || text === '') return null;
  const part = { text, from: range.from, to: Math.min(range.to, text.length) };
  const isEmpty = part.from >= part.to;
  const { entries } = partMenu(column.name, isEmpty ? { text, from: 0, to: text.length } : part, [
    ...frequentTexts(studio, column.name),
  ]);
  return (
    <div class="cell-part" role="group" aria-label="Selected part">
      <textarea
        rows={BOX_ROWS}
        aria-label="Text of the cell"
        value={text}
        // A read-only box would have no cursor, so no part could be selected with keys.
        onBeforeInput={(event) => event.preventDefault()}
        onSelect={({ currentTarget }) =>
          setRange({ from: currentTarget.selectionStart, to: currentTarget.selectionEnd })
        }
      />
      <p class="quiet">{isEmpty ? 'Select a part of this text to make a step of it.' : 'Make a step of it:'}</p>
      {!isEmpty &&
        entries.map(({ label, step }) => (
          <button key={label} type="button" class="small" onClick={() => form.addStep(step)}>
            {label}
          </button>
        ))}
    </div>
  );
}

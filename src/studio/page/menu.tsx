// The menu of a column or a cell: entries that open the form of a step.
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { frequentTexts } from './open-menu.ts';
import type { OpenMenu } from './page-parts.ts';
import { partMenu } from './part-pattern.ts';
import type { StepForm } from './step-form.ts';
import type { Studio } from './studio.ts';

/** Distance that a menu keeps from the edges of the window, in pixels. */
const MARGIN = 8;

export function Menu({
  studio,
  form,
  menu,
}: {
  readonly studio: Studio;
  readonly form: StepForm;
  readonly menu: OpenMenu;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    place(box.current!, menu);
    box.current!.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const onPress = (event: Event): void => {
      if (!box.current!.contains(event.target as Node)) studio.menu.value = null;
    };
    document.addEventListener('pointerdown', onPress);
    return () => document.removeEventListener('pointerdown', onPress);
  }, [menu]);
  const close = (): void => {
    studio.menu.value = null;
    menu.opener?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const items = [...box.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = nextItem(items, at, event.key);
    if (next !== undefined) next.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={box} class="menu" role="menu" aria-label={menu.title} onKeyDown={onKeyDown}>
      {menu.actions.length > 0 && (
        <div role="group" aria-label="Selection">
          {menu.actions.map(({ label, run }) => (
            <MenuItem
              key={label}
              label={label}
              onClick={() => {
                close();
                run(form);
              }}
            />
          ))}
        </div>
      )}
      {menu.groups.map(({ title, entries }) => (
        <div key={title} role="group" aria-label={title}>
          <div class="group-title" aria-hidden="true">
            {title}
          </div>
          {entries.map(({ label, step }) => (
            <MenuItem
              key={label}
              label={label}
              onClick={() => {
                studio.menu.value = null;
                form.addStep(step);
              }}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

function MenuItem({ label, onClick }: { readonly label: string; readonly onClick: () => void }): JSX.Element {
  return (
    <button type="button" role="menuitem" tabIndex={-1} onClick={onClick}>
      {label}
    </button>
  );
}

/** Moves with the arrows, or to the next entry that begins with a letter. */
function nextItem(items: readonly HTMLElement[], at: number, key: string): HTMLElement | undefined {
  const { length } = items;
  if (key === 'ArrowDown') return items[(at + 1) % length];
  if (key === 'ArrowUp') return items[(at - 1 + length) % length];
  if (key === 'Home') return items[0];
  if (key === 'End') return items[length - 1];
  if (key.length !== 1 || key === ' ') return undefined;
  const following = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return following.find((item) => item.innerText.toLowerCase().startsWith(key.toLowerCase()));
}

/** Keeps the menu inside of the window. */
function place(box: HTMLElement, { left, top }: OpenMenu): void {
  const { offsetWidth, offsetHeight } = box;
  box.style.left = `${Math.max(MARGIN, Math.min(left, innerWidth - offsetWidth - MARGIN))}px`;
  box.style.top = `${Math.max(MARGIN, Math.min(top, innerHeight - offsetHeight - MARGIN))}px`;
}

// The text of a cell, of which a part can be selected with the mouse or the keyboard to make a step.

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

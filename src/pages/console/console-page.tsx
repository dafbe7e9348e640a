// What is seen of the console: the key, the form that sends a file, and the Runs of this tab.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Usage } from '../../client/browser/template-run-client.ts';
import type { Console } from './console.ts';
import { RunView } from './run-view.tsx';

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
            {console.trouble.value !== null && <p role="alert">{console.trouble.value}</p>}
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
      <p>It is kept in the memory of this page alone, until the page is closed or the key is forgotten.</p>
      <button type="submit">Open</button>
      {console.trouble.value !== null && <p role="alert">{console.trouble.value}</p>}
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
        Delimiter, unless detected
        <input
          type="text"
          maxLength={1}
          value={delimiter}
          onInput={(event) => setDelimiter(event.currentTarget.value)}
        />
      </label>
      <label>
        Header row, counted from 0, unless detected
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
      {runs.length === 0 && <p>None yet. They are forgotten with the page.</p>}
      {runs.map((run) => (
        <RunView key={run.number} console={console} tabRun={run} />
      ))}
    </section>
  );
}

// A button with which the user opens a local file.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';

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

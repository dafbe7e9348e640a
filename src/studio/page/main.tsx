// The entry of the page.
import { render } from 'preact';
import { Page } from './page.tsx';
import { Studio } from './studio.ts';

const place = document.getElementById('page')!;
try {
  const studio = await Studio.open();
  render(<Page studio={studio} />, place);
} catch (error) {
  // Without the token, or when the command has ended.
  render(
    <p class="lost" role="alert">
      {(error as Error).message} Open the address that the command has printed.
    </p>,
    place,
  );
}

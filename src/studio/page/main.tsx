// The entry point of the page.
import { render } from 'preact';
import { Page } from './page.tsx';
import { openPanes } from './panes.tsx';
import { StepForm } from './step-form.ts';
import { Studio } from './studio.ts';
import { Suggestions } from './suggestions.ts';

const place = document.getElementById('page')!;
try {
  const studio = await Studio.open();
  render(
    <Page studio={studio} form={new StepForm(studio)} suggestions={new Suggestions(studio)} panes={openPanes()} />,
    place,
  );
} catch (error) {
  // The token is missing, or the command has ended.
  render(
    <p class="lost" role="alert">
      {(error as Error).message} Open the address that the command has printed.
    </p>,
    place,
  );
}

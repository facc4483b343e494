import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useConsole } from '../state/context';
import { Icon } from './icons';

/** How long the button shows that it has copied, in milliseconds. */
const SHOWN_MS = 1500;

interface CopyButtonProps {
  readonly text: string;
  /** Name of the text for screen readers. */
  readonly what: string;
}

export function CopyButton({ text, what }: CopyButtonProps): JSX.Element {
  const { t } = useConsole();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => setCopied(await copyText(text));
  return (
    <button type="button" class="quiet square" aria-label={t.copyWhat(what)} title={t.copy} onClick={() => void copy()}>
      <Icon name={copied ? 'check' : 'copy'} />
      <span class="unseen" role="status">
        {copied ? t.copied : ''}
      </span>
    </button>
  );
}

/** The clipboard API requires HTTPS. On plain HTTP, copies a selection. */
async function copyText(text: string): Promise<boolean> {
  if (isSecureContext) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  const focused = document.activeElement;
  area.select();
  // Deprecated, but insecure contexts have no alternative.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}

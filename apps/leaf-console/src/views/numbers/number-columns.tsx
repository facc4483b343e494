import type { JSX } from 'preact';
import type { NumberRow } from '../../api/numbers-api';
import type { NumberMessages } from '../../i18n/numbers/dictionary';
import { useNumberMessages } from '../../i18n/numbers/messages';
import { useConsole } from '../../state/context';
import { Ago } from '../../ui/exact';
import type { Column } from '../../ui/virtual-table';
import { nameOf, type NumberColumn } from './number-rows';

export type Settling = 'confirm' | 'void';

export function stateWords(n: NumberMessages): Readonly<Record<NumberRow['state'], string>> {
  return { issued: n.openState, confirmed: n.confirmedState, void: n.voidState, reissued: n.reissuedState };
}

export function useNumberColumns(
  settle: (row: NumberRow, settling: Settling) => void,
): Column<NumberRow, NumberColumn>[] {
  const { t } = useConsole();
  const n = useNumberMessages();
  return [
    {
      name: 'number',
      label: n.number,
      cell: (row) => (
        <span class="tag-name num" title={row.number}>
          {nameOf(row)}
        </span>
      ),
    },
    {
      name: 'document',
      label: n.document,
      cell: ({ key }) => (
        <span class="ellipsis" title={key}>
          {key}
        </span>
      ),
    },
    {
      name: 'issued',
      label: n.issued,
      cell: ({ issuedAt, issuedBy }) => (
        <>
          <Ago at={Date.parse(issuedAt)} /> <small>{issuedBy}</small>
        </>
      ),
    },
    { name: 'settled', label: n.settled, cell: (row) => <State row={row} /> },
    {
      name: 'actions',
      label: t.actions,
      sortable: false,
      cell: (row) => (row.state === 'issued' ? <Actions row={row} settle={settle} /> : ''),
    },
  ];
}

function State({ row: { state, settledAt, settledBy, reason } }: { readonly row: NumberRow }): JSX.Element {
  const n = useNumberMessages();
  return (
    <>
      <span class={`badge ${state === 'issued' ? '' : 'badge-plain'}`}>{stateWords(n)[state]}</span>{' '}
      {settledAt !== undefined && (
        <>
          <Ago at={Date.parse(settledAt)} /> <small>{settledBy}</small>
        </>
      )}
      {reason !== undefined && (
        <span class="ellipsis soft" title={reason}>
          {reason}
        </span>
      )}
    </>
  );
}

interface ActionsProps {
  readonly row: NumberRow;
  readonly settle: (row: NumberRow, settling: Settling) => void;
}

function Actions({ row, settle }: ActionsProps): JSX.Element {
  const n = useNumberMessages();
  const name = nameOf(row);
  return (
    <span class="acts">
      <button type="button" class="quiet" aria-label={n.confirmNumber(name)} onClick={() => settle(row, 'confirm')}>
        {n.confirm}
      </button>
      <button type="button" class="quiet danger" aria-label={n.voidNumber(name)} onClick={() => settle(row, 'void')}>
        {n.void}
      </button>
    </span>
  );
}

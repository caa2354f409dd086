// What a view shows, for spreadsheets and scripts, in full precision.
import type {Row, Table} from '../api/tables';
import {copy, tableCsv, tableJson} from '../state/copying';

export function CopyButtons({
  table,
  rows = table.rows,
  of,
}: {
  table: Table;
  rows?: readonly Row[];
  of?: string; // what is copied, where the page has several
}) {
  const about = of === undefined ? undefined : `Copies ${of}`;
  return (
    <>
      <button
        type="button"
        class="button"
        data-tip={about}
        onClick={() => void copy(tableCsv(table.shape.columns, rows), 'CSV')}
      >
        Copy CSV
      </button>
      <button
        type="button"
        class="button"
        data-tip={about}
        onClick={() => void copy(tableJson(table, rows), 'JSON')}
      >
        Copy JSON
      </button>
    </>
  );
}

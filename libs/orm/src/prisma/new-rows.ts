import type { PrismaModels } from './prisma-models';

type Fields = Record<string, unknown>;

/** A row that an operation creates. */
export interface NewRow {
  readonly model: string;
  readonly data: Fields;
}

/** The rows that an operation creates, in its nested writes as well, in the order of the arguments. */
export function newRows(models: PrismaModels, model: string, operation: string, args: unknown): NewRow[] {
  const rows: NewRow[] = [];

  /** The fields of a row, and the nested writes among them. */
  function addFields(name: string, data: unknown): void {
    const relations = models[name]?.relations ?? {};
    for (const fields of objectsOf(data)) {
      for (const [field, target] of Object.entries(relations)) {
        for (const write of objectsOf(fields[field])) addWrite(target, write);
      }
    }
  }

  function addRows(name: string, data: unknown): void {
    for (const row of objectsOf(data)) {
      rows.push({ model: name, data: row });
      addFields(name, row);
    }
  }

  /** The operations on the rows at the other end of a relation. */
  function addWrite(name: string, { create, createMany, connectOrCreate, upsert, update }: Fields): void {
    addRows(name, create);
    for (const { data } of objectsOf(createMany)) addRows(name, data);
    for (const item of objectsOf(connectOrCreate)) addRows(name, item.create);
    for (const item of objectsOf(upsert)) {
      addRows(name, item.create);
      addFields(name, item.update);
    }
    // The other end of a to-one relation may be updated without `data`, which may also be one of its fields.
    for (const item of objectsOf(update)) addFields(name, isWrapped(item) ? item.data : item);
  }

  for (const { data, create, update } of objectsOf(args)) {
    if (operation.startsWith('create')) addRows(model, data);
    else addFields(model, data);
    addRows(model, create);
    addFields(model, update);
  }
  return rows;
}

function isWrapped(item: Fields): boolean {
  return 'data' in item && Object.keys(item).every((key) => key === 'data' || key === 'where');
}

function objectsOf(value: unknown): Fields[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.filter((item): item is Fields => typeof item === 'object' && item !== null);
}

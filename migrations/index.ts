import { CreateLeafTables1732147200000 } from './1732147200000-create-leaf-tables';

/** Every migration, oldest first. */
export const migrations = [CreateLeafTables1732147200000];

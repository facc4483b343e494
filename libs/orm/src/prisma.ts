export { formattedId } from './prisma/formatted-id';
export { type LeafKeysExtension, leafKeys } from './prisma/leaf-keys';
export type { PrismaModel, PrismaModels } from './prisma/leaf-keys';

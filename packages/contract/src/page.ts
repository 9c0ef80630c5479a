import Type, { type TSchema } from 'typebox'
import { Nullable } from './schema.ts'

/** Contract 2.6: the envelope of every list. */
export const Page = <S extends TSchema>(item: S) =>
  Type.Object({
    count: Type.Integer({ description: 'Total number of items.' }),
    next: Nullable(Type.String({ description: 'URL of the next page.' })),
    previous: Nullable(Type.String({ description: 'URL of the previous page.' })),
    results: Type.Array(item),
  })

export const pageQuery = {
  limit: Type.Optional(Type.String({ description: 'Number of results per page (default 100, at most 1000).' })),
  offset: Type.Optional(Type.String({ description: 'Index of the first result.' })),
}
export const PageQuery = Type.Object(pageQuery)

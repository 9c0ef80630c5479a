import type { ImmutableMap } from 'swagger-ui-dist/swagger-ui-es-bundle.js'

/** Swagger UI searches names of tags only; this also searches path, id, summary and description of every operation. */
export function searchOperations(taggedOperations: ImmutableMap, phrase: string): ImmutableMap {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean)
  return taggedOperations
    .map((tagged, tag) => tagged.set('operations', operationsOf(tagged).filter(matches(tag, words))))
    .filter(tagged => operationsOf(tagged).size > 0)
}

const operationsOf = (tagged: ImmutableMap): ImmutableMap => tagged.get('operations') as ImmutableMap

const matches =
  (tag: string, words: readonly string[]) =>
  (operation: ImmutableMap): boolean => {
    const text = [
      tag,
      operation.get('method'),
      operation.get('path'),
      ...['operationId', 'summary', 'description'].map(field => operation.getIn(['operation', field])),
    ]
      .join(' ')
      .toLowerCase()
    return words.every(word => text.includes(word))
  }

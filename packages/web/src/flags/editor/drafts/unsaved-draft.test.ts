import { describe, expect, it } from 'vitest'
import { emptyDraft } from '../draft.ts'
import { readUnsaved } from './unsaved-draft.ts'

const unsaved = { version: 3, original: emptyDraft, draft: { ...emptyDraft, name: 'edited' }, broken: { true: '{' } }

describe('a stored edit', () => {
  it('is read as it was written', () => {
    expect(readUnsaved(JSON.parse(JSON.stringify(unsaved)))).toEqual(unsaved)
  })

  it('of another shape is ignored', () => {
    for (const stored of [undefined, null, 1, {}, { ...unsaved, draft: {} }, { ...unsaved, broken: null }]) {
      expect(readUnsaved(stored)).toBeUndefined()
    }
  })
})

import { describe, expect, it } from 'vitest'
import { createDraftStore } from './draft-store.ts'

function memoryStorage(): Storage {
  const values = new Map<string, string>()
  return {
    get length() {
      return values.size
    },
    key: (index: number) => [...values.keys()][index] ?? null,
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
    removeItem: (name: string) => void values.delete(name),
    clear: () => values.clear(),
  }
}
const unsaved = { version: 3, draft: { name: 'edited' } }

describe('unsaved drafts', () => {
  it('are read again from the storage of the tab', () => {
    const storage = memoryStorage()
    createDraftStore(storage).write('1/7', unsaved)
    expect(createDraftStore(storage).read('1/7')).toEqual(unsaved)
    expect(createDraftStore(storage).read('2/7')).toBeUndefined()
    storage.setItem('halyard.draft.1/7', '{')
    expect(createDraftStore(storage).read('1/7')).toBeUndefined()
  })

  it('that do not fit into the storage are left out', () => {
    const full = {
      ...memoryStorage(),
      setItem: () => {
        throw new Error('QuotaExceededError')
      },
    }
    expect(() => createDraftStore(full).write('1/7', unsaved)).not.toThrow()
  })

  it('are all removed on sign-out, and nothing else', () => {
    const storage = memoryStorage()
    const drafts = createDraftStore(storage)
    storage.setItem('other', '1')
    drafts.write('1/7', unsaved)
    drafts.write('1/new', unsaved)
    expect(drafts.isEmpty()).toBe(false)
    drafts.clear()
    expect([drafts.isEmpty(), storage.getItem('other')]).toEqual([true, '1'])
  })
})

import { describe, expect, it } from 'vitest'
import { gridTracks, readColumns, writeColumns } from './columns.ts'

describe('the columns of the flag list', () => {
  it('are remembered in their own order, without unknown ones', () => {
    let text: string | null = null
    const storage = {
      getItem: () => text,
      setItem: (_name: string, value: string) => {
        text = value
      },
    }
    expect(readColumns(storage)).toContain('tags')
    writeColumns(storage, ['usage', 'tags'])
    expect(readColumns(storage)).toEqual(['tags', 'usage'])
    text = '["tags","else"]'
    expect(readColumns(storage)).toEqual(['tags'])
    text = '{'
    expect(readColumns(storage)).toContain('owner')
  })

  it('become tracks of the grid, fewer where space is short', () => {
    expect(gridTracks(['tags', 'created'])).toEqual({ wide: 'minmax(0, 8rem) 6.25rem', medium: 'minmax(0, 8rem)' })
    expect(gridTracks([])).toEqual({ wide: '', medium: '' })
  })
})

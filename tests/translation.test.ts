import { describe, expect, it } from 'vitest'
import { catalog } from '../packages/server/src/features/plugins/install/catalog.ts'
import { de } from '../packages/web/src/i18n/de.ts'

describe('the German web app', () => {
  it('describes every plugin of the catalog and its requirements', () => {
    const translated = catalog.map(({ url, needs }) => {
      const texts = de.plugins.catalogTexts[url]
      return { url, isDescribed: texts !== undefined, hasNeeds: texts?.needs !== undefined, needs: needs !== '' }
    })
    expect(translated.filter(each => !each.isDescribed || each.hasNeeds !== each.needs)).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { catalogue } from '../packages/server/src/features/plugins/install/catalog.ts'
import { de } from '../packages/web/src/messages/de.ts'

describe('the German page', () => {
  it('describes every plugin of the catalogue, and what it needs', () => {
    const told = catalogue.map(({ url, needs }) => {
      const texts = de.plugins.catalogueTexts[url]
      return { url, isDescribed: texts !== undefined, saysNeeds: texts?.needs !== undefined, needs: needs !== '' }
    })
    expect(told.filter(each => !each.isDescribed || each.saysNeeds !== each.needs)).toEqual([])
  })
})

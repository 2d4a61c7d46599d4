const eveningArticles = require('./articles/evening.js')
const morningArticles = require('./articles/morning.js')

/**
 * The two newspapers of the network. `key` picks the colours in public/newspaper.css and names the cookies;
 * `scheme` and `themeColours` (by day, by night) tell the browser how to paint what is not ours, such as scroll bars;
 * `colour` is that of the login page.
 */
const newspapers = {
  morning: {
    key: 'morning',
    name: 'Morning Post',
    title: 'The Morning Post',
    motto: 'Lindenhaven’s daily, with the first light',
    edition: 'Morning edition',
    weather: 'Fair, a light wind from the sea, 14°',
    scheme: 'light dark',
    themeColours: { light: '#f7f1e5', dark: '#191511' },
    colour: '#a33a1b',
    articles: morningArticles,
  },
  evening: {
    key: 'evening',
    name: 'Evening Star',
    title: 'Evening Star',
    motto: 'Lindenhaven after dark',
    edition: 'Tonight',
    weather: 'Clear skies until two, 9°',
    scheme: 'dark',
    themeColours: { light: '#0b1020', dark: '#0b1020' },
    colour: '#ffc857',
    articles: eveningArticles,
  },
}

module.exports = newspapers

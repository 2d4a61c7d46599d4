/** The Morning Post's articles. The town of Lindenhaven and everything in it are invented. */
const articles = [
  {
    slug: 'harbour-opens-its-old-gate',
    section: 'Town',
    title: 'The old harbour gate opens again after forty winters',
    lead: 'At first light on Sunday the sluice below Rope Street will let the tide into the inner basin, and with it the small boats that were told to stay away.',
    author: 'From our harbour desk',
    minutes: 4,
    art: 'harbour',
    body: [
      'The gate was shut in the year of the long frost, for one season, and stayed shut for forty. Its oak had swollen, its key was lost, and Lindenhaven learned to look at a still pond where a harbour had been.',
      'Since spring the shipwrights of Crane Island have rebuilt it plank by plank, following a drawing found behind a cupboard in the customs house. The new key weighs as much as a small child and is kept by the harbour office, which has made two copies.',
      'On Sunday the ferry will blow its horn at a quarter past six. Anything that floats and is shorter than eight metres may come in, says the notice on the quay; anything that does not float is asked to watch from the wall.',
    ],
  },
  {
    slug: 'three-hundred-pear-trees',
    section: 'Country',
    title: 'Three hundred pear trees for the road to Upper Alder',
    lead: 'The lane lost its elms to disease. The parish has chosen what will stand there for the next century, and it can be eaten.',
    author: 'From our country desk',
    minutes: 3,
    art: 'orchard',
    body: [
      'The vote was close. Limes had their friends, and so did the view without any trees. In the end pears won by eleven hands, on the promise that whoever prunes a tree may keep what grows on it.',
      'Planting begins in the first week after the frost, from the mill upwards. The school of Upper Alder has taken the last forty trees, and has already named each of them.',
    ],
  },
  {
    slug: 'night-in-the-reading-room',
    section: 'Culture',
    title: 'One night in the reading room, with the lamps left on',
    lead: 'The town library lends its chairs until sunrise once a year. We stayed, and wrote down who came, what they read, and when they fell asleep.',
    author: 'From our culture desk',
    minutes: 7,
    art: 'library',
    subscribersOnly: true,
    body: [
      'At ten there were sixty of us, and a queue for the armchairs by the stove. By midnight the queue had become a circle on the floor, and somebody read aloud from a manual on knots, which held the room for an hour.',
      'Between two and three the library belongs to bakers. They come in white, drink tea standing, and read the first pages of very long novels, one page a year. One of them is on page twenty-six.',
      'At sunrise the caretaker opened the tall windows, as she has for thirty years, and the whole room looked up as if it had been called by name.',
    ],
  },
  {
    slug: 'footbridge-that-sings',
    section: 'Town',
    title: 'The footbridge that sings in an east wind will keep its voice',
    lead: 'Engineers could silence the railing for a modest sum. Four hundred letters asked them not to.',
    author: 'From our town desk',
    minutes: 2,
    art: 'bridge',
    body: [
      'It is an F sharp, a little flat in cold weather. The engineers measured it for a week and found that it harms neither bolts nor people.',
      'The town will spend the money on a bench instead, on the side from which the bridge is best heard.',
    ],
  },
  {
    slug: 'what-bread-will-cost',
    section: 'Economy',
    title: 'Why the harvest was good and bread will still cost more',
    lead: 'Grain is plentiful, flour is cheap, and the loaf on the counter is two pence dearer. The answer is in the oven.',
    author: 'From our economy desk',
    minutes: 6,
    art: 'bread',
    subscribersOnly: true,
    body: [
      'Ask a baker what is in a loaf and the honest answer is: mostly heat. A wood oven takes five hours to warm and three minutes to cool when the door is left open, and the price of beech has doubled in two winters.',
      'Four bakeries on Rope Street now share one oven, in turns of three hours. The loaves come out in four shapes, so that nobody takes another’s home; the saving is a penny on each.',
      'The other penny, they say together, we will have to ask for.',
    ],
  },
  {
    slug: 'heron-on-the-town-hall',
    section: 'Nature',
    title: 'A heron has moved into the town hall’s weather vane',
    lead: 'It turns with the wind, looks down on the council, and has not missed a session since Tuesday.',
    author: 'From our nature desk',
    minutes: 2,
    art: 'heron',
    body: [
      'Herons do not usually nest alone, nor on iron. The bird on the vane seems to do both, and has been seen carrying reeds across the market at lunch time.',
      'The council has postponed the oiling of the vane until the young have flown.',
    ],
  },
]

module.exports = articles

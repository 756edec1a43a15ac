// What is folded is printed all the same.
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
});
// Draws every chart of the page; a chart that cannot be drawn leaves its picture in place.
const charts = JSON.parse(document.getElementById("chart-data").textContent);
for (const figure of document.querySelectorAll("[data-chart]")) {
  const place = figure.querySelector(".live");
  figure.classList.add("is-live");
  vegaEmbed(place, charts[figure.dataset.chart], {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    ast: true,
    tooltip: { theme: "custom" },
  }).catch((problem) => {
    figure.classList.remove("is-live");
    console.error(problem);
  });
}
